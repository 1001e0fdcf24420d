# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of parameters share memory as long as none is written to; if one is, sharing is no remedy."""

import pytest
from support.events import annotations
from support.fit_changes import changed_places
from support.programs import MIB, on_card

MODEL = """
import copy, json, torch
from torch import nn
with torch.device("meta"):
    model = nn.Sequential(nn.Linear(1024, 1024, bias=False), nn.ReLU(), nn.Linear(1024, 1024, bias=False))
model.to_empty(device="cuda")
weight = model[0].weight
x = torch.ones(4, 1024, device="cuda")
model(x).sum().backward()
model.zero_grad()
before = torch.cuda.memory_allocated()
"""
TELL = """
print(json.dumps(said))
"""
SIZE = 4 * MIB


def run(script: str, folder, change: str = "share") -> tuple[dict, dict]:
    done = on_card(MODEL + script + TELL, folder, MEMTRACE_FIT_CHANGES=change)
    assert "memtrace: " not in done.err, done.err
    return done.printed(), annotations(done.trace) | {"places": changed_places(done.trace, "share")}


COPIES = """
copies = [copy.deepcopy(model), weight.clone(), torch.clone(weight), weight.detach().clone(),
          weight.to("cuda", copy=True), nn.Parameter(weight.data.clone()),
          weight.detach().to(torch.float32, copy=True).requires_grad_(True)]
said = {"bytes": torch.cuda.memory_allocated() - before}
said["grads"] = [getattr(each, "requires_grad", None) for each in copies]
said["leaf"] = [each.is_leaf for each in copies[1:]]
others = [weight.half(), weight.to(torch.bfloat16, copy=True), weight[:512].clone(), weight.t().clone(),
          torch.ones_like(weight).clone(), x.clone(), weight.cpu().clone()]
said["others"] = torch.cuda.memory_allocated() - before - said["bytes"]
with torch.no_grad():
    weight.clone()
copies[0](x).sum().backward()
(copies[1] * 2 + copies[6] * 2).sum().backward()
assert weight.grad.shape == copies[6].grad.shape == copies[0][0].weight.grad.shape == weight.shape
assert copies[0][0].weight.data_ptr() != copies[0][2].weight.data_ptr()
"""


def test_unwritten_copies_take_no_memory(tmp_path):
    unchanged, _ = run(COPIES, tmp_path, "")
    said, told = run(COPIES, tmp_path)
    assert unchanged["bytes"] == 8 * SIZE and said["bytes"] == 0
    assert unchanged["others"] == said["others"] == (1 + 1 + 1 + 2 + 2) * SIZE // 2 + 4 * 4096
    assert {**unchanged, "bytes": 0} == said
    assert told["places"] == 9 and "fit.wrong.share" not in told


@pytest.mark.parametrize(
    "write",
    [
        "other = copy.deepcopy(model)\nmodel(x).sum().backward()\ntorch.optim.SGD(model.parameters()).step()",
        "other = copy.deepcopy(model)\nother[2].weight.data.copy_(weight)",
        "other = copy.deepcopy(model)\nfor p, q in zip(other.parameters(), model.parameters()): q.data.mul_(p.data)",
        "other = weight.clone()\nother[0] = 1\nother.sum().backward()",
        "other = nn.Parameter(weight.detach().clone())\nwith torch.no_grad(): other.zero_()",
        "other = weight.clone().detach()\nother.add_(1)\ndel other",
        "other = weight.detach().clone().data\nweight.data.add_(1)",
    ],
)
def test_written_copies_are_not_shared(tmp_path, write):
    _, told = run(f"said = {{}}\n{write}\n", tmp_path)
    assert told["places"] == 0
    assert told["fit.wrong.share"] == f"{tmp_path / 'train.py'}:13"


def test_write_after_a_copy_ended_is_allowed(tmp_path):
    script = """
said = {}
optimizer = torch.optim.SGD(model.parameters())
for _ in range(2):
    other = copy.deepcopy(model)
    (model(x) + other(x)).sum().backward()
    del other
    optimizer.step()
kept = copy.deepcopy(model)
model.to(torch.float64)  # has its own memory from now on
with torch.no_grad():
    weight.zero_()
"""
    _, told = run(script, tmp_path)
    assert told["places"] == 6 and "fit.wrong.share" not in told
