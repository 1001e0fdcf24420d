# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Remedies of a report, told by where blocks were made and by their roles, on traces of real programs."""

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
# 8 weights of 16 MiB, on the card from the file before the model is.
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
# Each pass keeps 8 outputs of 4 MiB and no backward ever runs.
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
# A model that is trained; the batch is the argument.
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


def test_attention_weights_that_nobody_reads_have_a_row(tmp_path: Path) -> None:
    rows = remedies(ATTENTION, tmp_path, "250MiB")
    assert "need_weights=False" in rows, rows
    assert int(str(rows["need_weights=False"]["predicted_peak"])) < 200 * MIB


def test_loaded_checkpoint_belongs_into_the_hosts_memory_and_is_no_second_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = remedies(CHECKPOINT, tmp_path, "300MiB")
    assert 'map_location="cpu"' in str(rows["checkpoint in host memory"]["change"])
    assert "no second copy" not in rows


def test_graphs_that_no_backward_uses_are_not_a_matter_of_the_batch(tmp_path: Path) -> None:
    rows = remedies(GRAPHS, tmp_path, "300MiB")
    assert "torch.no_grad()" in str(rows["no graph"]["change"])
    assert "half the batch" not in rows


def test_casts_that_autocast_keeps_have_a_row(tmp_path: Path) -> None:
    rows = remedies(CASTS, tmp_path, "360MiB")
    assert "cache_enabled=False" in rows, rows


@pytest.mark.parametrize("batch", [1, 2])
def test_only_a_batch_of_several_examples_can_be_halved(batch: int, tmp_path: Path) -> None:
    rows = remedies(TRAINED.format(batch), tmp_path, "24GiB", status=0)
    assert ("half the micro-batch" in rows) == (batch > 1), rows
