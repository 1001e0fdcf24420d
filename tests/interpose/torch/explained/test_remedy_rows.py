# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A report's remedies, derived from where blocks were made and from their roles, in traces of real programs."""

from pathlib import Path

import pytest
from support.programs import MIB, on_card

# Six layers keep weights of 2 x 8 x 512 x 512 floats, 16 MiB, several times each.
ATTENTION = """
import torch
from torch import nn
layers = nn.ModuleList([nn.MultiheadAttention(64, 8, batch_first=True) for _ in range(6)]).cuda()
x = torch.zeros(2, 512, 64, device="cuda")
for layer in layers:
    x = x + layer(x, x, x)[0]
"""
# The file's 8 weights of 16 MiB are on the card before the model is.
CHECKPOINT = """
import torch
from torch import nn
def make():
    return nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(8)])
torch.save(make().state_dict(), "state.pt")
state = torch.load("state.pt", map_location="cuda")
model = make()
model.load_state_dict(state)
model.cuda()
"""
# Each pass keeps 8 outputs of 4 MiB, and no backward ever runs.
GRAPHS = """
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(1024, 1024), nn.Tanh())]).cuda()
kept = []
while True:
    kept.append(model(torch.zeros(1024, 1024, device="cuda")).sum())
"""
# 12 weights of 16 MiB and their casts of 8.
CASTS = """
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(12)]).cuda()
with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
    model(torch.zeros(8, 2048, device="cuda"))
"""
# A model that is trained; the argument is the batch.
TRAINED = """
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(64, 64), nn.Tanh())]).cuda()
optimizer = torch.optim.SGD(model.parameters())
for _ in range(2):
    model(torch.zeros({}, 16384, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def remedies(script: str, folder: Path, card: str, status: int = 1) -> dict[str, dict[str, object]]:
    found = on_card(script, folder, card=card + ",context=100MiB", expect=status).report()
    return {row["name"]: row for row in found["remedies"]}


def test_unread_attention_weights_have_a_remedy(tmp_path: Path) -> None:
    rows = remedies(ATTENTION, tmp_path, "170MiB")
    assert "need_weights=False" in rows, rows
    assert int(str(rows["need_weights=False"]["predicted_peak"])) < 130 * MIB


def test_loaded_checkpoint_is_to_stay_on_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = remedies(CHECKPOINT, tmp_path, "300MiB")
    assert 'map_location="cpu"' in str(rows["checkpoint in host memory"]["change"])
    assert "no second copy" not in rows


def test_unused_graphs_are_remedied_by_no_grad_not_batch_size(tmp_path: Path) -> None:
    rows = remedies(GRAPHS, tmp_path, "300MiB")
    assert "torch.no_grad()" in str(rows["no graph"]["change"])
    assert rows["no graph"]["at_least"]
    assert not {"half the batch", "gradient checkpointing"} & set(rows)


def test_cached_autocast_casts_have_a_remedy(tmp_path: Path) -> None:
    rows = remedies(CASTS, tmp_path, "360MiB")
    assert "cache_enabled=False" in rows, rows


@pytest.mark.parametrize("batch", [1, 2])
def test_only_a_batch_of_several_examples_can_be_halved(batch: int, tmp_path: Path) -> None:
    rows = remedies(TRAINED.format(batch), tmp_path, "24GiB", status=0)
    assert ("half the micro-batch" in rows) == (batch > 1), rows


# 16 weights of 16 MiB move to a card that has 100 MiB for them.
MOVED = """
import torch
from torch import nn
nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(16)]).to("cuda")
"""
# A mask of 4 MiB is repeated for 32 heads.
MASKS = """
import torch
import torch.nn.functional as F
mask = torch.zeros(1, 1024, 1024, device="cuda")
q = torch.zeros(1, 32, 1024, 16, device="cuda")
with torch.no_grad():
    m = mask[:, None].repeat(1, 32, 1, 1)
    kept = [m.clone() for _ in range(2)]
    {}
"""
ATTENDS = "F.scaled_dot_product_attention(q, q, q, attn_mask=m)"
# A cache of 16 MiB grows by one row each time, under torch's own allocator.
JOINED = """
import torch
past = torch.zeros(4, 8, 1024, 128, device="cuda")
for _ in range(20):
    past = torch.cat([past, torch.zeros(4, 8, 1, 128, device="cuda")], 2)
"""
# AdamW has made no states yet when the forward pass fails.
NOT_YET_STEPPED = """
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(8192, 2048, device="cuda"))
"""
CHECKPOINTED = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(64, 64), nn.Tanh())]).cuda()
x = torch.zeros(4096, 64, device="cuda")
def forward(x):
    return model(x)
loss = checkpoint(forward, x, use_reentrant={}).sum()
if loss.requires_grad:
    loss.backward()
"""
IN_EVAL = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
model = LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=4,
                                     num_attention_heads=4)).cuda()
model.gradient_checkpointing_enable()
model.train({})
ids = torch.zeros({}, 512, dtype=torch.long, device="cuda")
model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
"""

OUTER = """class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = model
    def forward(self, **given):
        return self.inner(**given)
Outer()(input"""


def test_rest_of_a_model_being_moved_is_predicted(tmp_path: Path) -> None:
    found = on_card(MOVED, tmp_path, card="200MiB,context=100MiB", expect=1).report()
    assert found["verdict"]["step_short_by_from"] == "placement"
    needs = {row["name"]: row["predicted_peak"] for row in found["remedies"]}
    assert needs["a larger card"] == (100 + 16 * 16) * MIB


def test_repeated_mask_is_to_be_broadcast_if_attention_uses_it(tmp_path: Path) -> None:
    script = MASKS.format(ATTENDS + "\n    torch.zeros(1 << 28, device='cuda')")
    assert "one mask for all heads" in remedies(script, tmp_path, "1000MiB")
    script = MASKS.format("torch.zeros(1 << 28, device='cuda')")
    assert "one mask for all heads" not in remedies(script, tmp_path, "1000MiB")


def test_cache_grown_by_cat_is_to_be_static(tmp_path: Path) -> None:
    report = on_card(JOINED, tmp_path, options=("--allocator", "native")).report()
    names = [row["name"] for row in report["remedies"]]
    assert "static cache" in names, names
    assert "memtrace's allocator" in names, names


def test_remedies_save_predicted_states(tmp_path: Path) -> None:
    rows = remedies(NOT_YET_STEPPED, tmp_path, "300MiB")
    larger = int(str(rows["a larger card"]["predicted_peak"]))
    # 128 MiB of parameters: one copy of a foreach update, and 256 MiB of states that would take 64 and their scales.
    assert larger - int(str(rows["fused optimizer"]["predicted_peak"])) == 128 * MIB
    saved = larger - int(str(rows["8-bit optimizer"]["predicted_peak"]))
    assert 128 * MIB + 190 * MIB < saved < 128 * MIB + 192 * MIB


def sentences(script: str, folder: Path) -> str:
    return str(on_card(script, folder).report()["verdict"]["sentence"])


def test_checkpoint_around_the_whole_model_is_named(tmp_path: Path) -> None:
    assert "recomputes all of it at once" in sentences(CHECKPOINTED.format(False), tmp_path)
    assert "whole model" not in sentences(CHECKPOINTED.replace("model(x)", "model[0](x)").format(False), tmp_path)


def test_reentrant_checkpoint_whose_inputs_require_no_gradient_is_named_with_its_line(tmp_path: Path) -> None:
    said = sentences(CHECKPOINTED.format(True), tmp_path)
    assert "No gradient flows through the reentrant checkpoint at train.py:9" in said
    with_gradient = CHECKPOINTED.replace('device="cuda")', 'device="cuda", requires_grad=True)')
    assert "No gradient" not in sentences(with_gradient.format(True), tmp_path)


def test_checkpointing_in_eval_mode_is_reported_as_ineffective(tmp_path: Path) -> None:
    report = on_card(IN_EVAL.format(False, 2), tmp_path).report()
    assert "the model is in eval mode" in report["verdict"]["sentence"]
    changes = [row["change"] for row in report["remedies"] if row["name"] == "gradient checkpointing"]
    assert changes
    assert changes[0].startswith("model.train()")
    assert "eval mode" not in sentences(IN_EVAL.format(True, 2), tmp_path)
    # The outer model is in training mode from the start, as peft's is.
    assert "the model is in eval mode" in sentences(IN_EVAL.format(False, 2).replace("model(input", OUTER), tmp_path)


def test_single_example_offers_half_the_sequence(tmp_path: Path) -> None:
    names = [row["name"] for row in on_card(IN_EVAL.format(False, 1), tmp_path).report()["remedies"]]
    assert "half the sequence" in names, names
    assert not [name for name in names if "batch" in name]
