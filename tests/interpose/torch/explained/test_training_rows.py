# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Remedies of programs that train, which an earlier rule had missed; the advice is tested."""

from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MIB, on_card

# Each word of each example briefly has a matrix: 8 x 64 x 256 x 512 x 4 bytes are 256 MiB. In step 2 a state takes the
# place of one of step 1.
PER_SAMPLE = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(256, 512), nn.Tanh(), nn.Linear(512, 2)).cuda()
def of_samples(module, grad_input, grad_output):
    each = torch.einsum("n...i,n...j->n...ij", grad_output[0], module.inputs)
    module.weight.grad_sample = torch.einsum("n...ij->nij", each)
model[0].register_forward_hook(lambda module, inputs, output: setattr(module, "inputs", inputs[0]))
model[0].register_full_backward_hook(of_samples)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    model(torch.zeros({batch}, 64, 256, device="cuda", requires_grad=True)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    states = [torch.zeros(1 << 20, device="cuda") for _ in range(12)] if step == 0 else states
"""
SPLIT_CARD = "872MiB,context=480MiB"


def rows(report: JsonObject) -> dict[str, JsonObject]:
    return {row["name"]: row for row in report["remedies"]}


def test_half_the_batch_is_a_possible_remedy_on_a_fragmented_card(tmp_path: Path) -> None:
    options = ("--allocator", "native")
    failed = on_card(PER_SAMPLE.format(batch=8), tmp_path, card=SPLIT_CARD, expect=1, options=options)
    report = failed.report()
    assert report["verdict"]["cause"] == "fragmentation" and report["request"]["bytes"] == 256 * MIB
    assert [row["how_known"] for row in report["remedies"][:2]] == ["replayed", "replayed"]
    half = rows(report)["half the micro-batch"]
    assert half["at_least"] and half["predicted_peak"] <= report["card"]["bytes"] - 128 * MIB
    on_card(PER_SAMPLE.format(batch=4), tmp_path, card=SPLIT_CARD, options=options)


# The reference must stay unchanged while the other is trained: 128 MiB each.
REFERENCE = """
import copy
import torch
from torch import nn
def made():
    return nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(8)])
model = made().cuda()
reference = copy.deepcopy(model).requires_grad_(False)
optimizer = {optimizer}
x = torch.zeros(4096, 2048, device="cuda")
for _ in range(2):
    with torch.no_grad():
        wanted = reference(x)
    loss = (model(x) - wanted).square().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("trains_all", [True, False])
def test_copy_of_a_fully_trained_model_has_no_sharing_remedy(tmp_path: Path, trains_all: bool) -> None:
    optimizer = f"torch.optim.SGD(model{'' if trains_all else '[7]'}.parameters())"
    failed = on_card(REFERENCE.format(optimizer=optimizer), tmp_path, card="900MiB,context=480MiB", expect=1)
    assert ("no second copy" in rows(failed.report())) is not trains_all


# Line 5 no longer needs lt and rb when it reaches the next operation: 64 MiB each.
PAIRS = """
import torch
def overlaps(a, b):
    lt, rb = torch.max(a[:, None], b), torch.min(a[:, None], b)
    wh = {difference}
    return wh.sum()
x = torch.zeros(4096, device="cuda")
overlaps(x, x)
"""


def test_name_read_by_the_statement_is_deleted_within_it(tmp_path: Path) -> None:
    card = "688MiB,context=480MiB"
    failed = on_card(PAIRS.format(difference="(rb - lt + 1).clamp(min=0)"), tmp_path, card=card, expect=1)
    row = rows(failed.report())["del rb"]
    assert (
        row["change"]
        == "del rb at train.py:5 as soon as it has been read: split the statement in two; nothing reads it again"
    )
    on_card(PAIRS.format(difference="rb - lt; del rb; wh = (wh + 1)"), tmp_path, card=card)


# 64 MiB of weights and as much of momentum: the best of both is kept, and read at the end.
BEST = """
import copy
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
for epoch in range(2):
    model(torch.zeros(8, 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        model(torch.zeros(8, 2048, device="cuda"))
    best = {{"model": {model}, "optimizer": copy.deepcopy(optimizer.state_dict())}}
model.load_state_dict(best["model"])
"""


def test_copied_state_dict_is_to_stay_on_the_host(tmp_path: Path) -> None:
    card = "792MiB,context=480MiB"
    failed = on_card(BEST.format(model="copy.deepcopy(model.state_dict())"), tmp_path, card=card, expect=1)
    report = failed.report()
    copied = [row for row in report["holdings"] if row["role"] == "checkpoint"]
    assert [row["bytes"] for row in copied] == [128 * MIB]
    row = rows(report)["checkpoint in host memory"]
    assert row["change"].startswith("copy each tensor of the state dict with .cpu()")
    on_card(BEST.format(model="{key: value.cpu() for key, value in model.state_dict().items()}"), tmp_path, card=card)


# Parameters, buckets and gradients of 128 MiB each, states of 256 and a copy of them of 128.
RANK = """
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
layers = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(8)]).cuda()
model = DistributedDataParallel(layers, gradient_as_bucket_view=sys.argv[2] == "view")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.zeros(16, 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
"""


def test_gradients_copied_into_buckets_are_to_be_views(tmp_path: Path) -> None:
    card, store = "1180MiB,context=480MiB", str(tmp_path / "store")
    found = rows(on_card(RANK, tmp_path, store, "copied", card=card, expect=1).report())
    view = found["gradients as bucket views"]
    larger = found["a larger card"]["predicted_peak"]
    assert 128 * MIB <= larger - view["predicted_peak"] < 160 * MIB
    done = on_card(RANK, tmp_path, f"{store}2", "view", card=card)
    assert "gradients as bucket views" not in rows(done.report())


# One batch is four times as long as those before it.
LONGEST = """
import sys
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for length in (480, 512, 500, int(sys.argv[1])):
    model(torch.zeros(32, length, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_longest_batch_is_named_and_earlier_lengths_fit(tmp_path: Path) -> None:
    failed = on_card(LONGEST, tmp_path, "2048", card="2GiB", expect=1)
    report = failed.report()
    assert report["largest_call"] == {
        "now": {"examples": 32, "length": 2048},
        "before": {"examples": 32, "length": 512},
    }
    row = rows(report)["batches as before"]
    assert report["remedies"][0] == row and not row["at_least"]
    done = on_card(LONGEST, tmp_path, "512", card="2GiB").report()
    context = next(entry["bytes"] for entry in done["ledger"] if entry["name"] == "context")
    assert 0 <= row["predicted_peak"] - context - done["peak"]["bytes"] < 16 * MIB
    assert "batches as before" not in rows(done)


# Each of 4096 nodes has a row in every matrix, so half the batch would be another graph.
GRAPH = """
import sys
import torch
from torch import nn
class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(1024, 1024) for _ in range(8)])
    def forward(self, x, edges):
        for layer in self.layers:
            x = layer(x if edges is None else edges @ x).relu()
        return x
model = Convolution().cuda()
optimizer = torch.optim.SGD(model.parameters())
edges = torch.zeros(4096, 4096, device="cuda") if sys.argv[1] == "graph" else None
for _ in range(2):
    model(torch.zeros(4096, 1024, device="cuda"), edges).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("kind", ["graph", "batch"])
def test_nodes_of_a_graph_are_not_a_batch(tmp_path: Path, kind: str) -> None:
    failed = on_card(GRAPH, tmp_path, kind, card="700MiB,context=480MiB", expect=1)
    assert any(name.startswith("half the") for name in rows(failed.report())) is (kind == "batch")


# 256 MiB each of weights and momentum: in two micro-batches the second pass runs beside 256 MiB of gradients.
ACCUMULATED = """
import sys
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(16) for m in (nn.Linear(2048, 2048, bias=False), nn.Tanh())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
parts = int(sys.argv[1])
for _ in range(2):
    for _ in range(parts):
        model(torch.zeros(4096 // parts, 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_half_the_micro_batch_includes_gradients_of_the_first_half(tmp_path: Path) -> None:
    card = "1560MiB,context=480MiB"
    failed = on_card(ACCUMULATED, tmp_path, "1", card=card, expect=1).report()
    assert failed["moment"]["at"]["step"] == 2 and failed["moment"]["at"]["phase"] == "forward"
    half = rows(failed)["half the micro-batch"]
    on_card(ACCUMULATED, tmp_path, "2", card=card, expect=1)
    done = on_card(ACCUMULATED, tmp_path, "2", card="2GiB,context=480MiB").report()
    assert half["predicted_peak"] >= done["peak"]["bytes"] + 480 * MIB > failed["card"]["bytes"] - 8 * MIB


# A model has 24 unnamed parts: 16 MiB of activations each.
PARTS = """
import sys
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential
model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(24)]).cuda()
optimizer = torch.optim.SGD(model.parameters())
x = torch.zeros(1024, 512, device="cuda", requires_grad=True)
for _ in range(2):
    out = checkpoint_sequential(model, 24, x, use_reentrant=False) if sys.argv[1] == "checkpoint" else model(x)
    out.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_unnamed_parts_of_a_model_are_checkpointed_as_a_sequence(tmp_path: Path) -> None:
    card = "1000MiB,context=480MiB"
    row = rows(on_card(PARTS, tmp_path, "plain", card=card, expect=1).report())["gradient checkpointing"]
    assert row["change"].startswith("torch.utils.checkpoint.checkpoint_sequential(model, "), row
    on_card(PARTS, tmp_path, "checkpoint", card=card)


# Activations are the largest part of the passes: the card is full in the first update, and once there are states the
# second backward needs more than that update without its copy.
SECOND_BACKWARD = """
import sys
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(2048, 2048, bias=False), nn.Tanh())]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=sys.argv[1] == "fused")
for _ in range(2):
    model(torch.zeros(2500, 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_fused_update_needs_at_least_the_next_backward(tmp_path: Path) -> None:
    failed = on_card(SECOND_BACKWARD, tmp_path, "foreach", card="1050MiB,context=480MiB", expect=1).report()
    assert failed["moment"]["at"]["phase"] == "optimizer"
    row = rows(failed)["fused optimizer"]
    assert row["predicted_peak"] == row["next_step"] > row["this_step"]
    done = on_card(SECOND_BACKWARD, tmp_path, "fused", card="2GiB,context=480MiB").report()
    assert 0 <= row["predicted_peak"] - 480 * MIB - done["peak"]["bytes"] < 16 * MIB
