# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A forward pass fails in the middle of a model's layers: memory that the other layers would have kept is predicted."""

import pytest
from support.programs import GIB, MIB, memtrace, on_card

PROGRAM = """
import sys
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(1024, 4096)
        self.down = nn.Linear(4096, 1024)
    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(12))
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters(), fused=True)
for step in range(2):
    with torch.set_grad_enabled("no_grad" not in sys.argv):
        loss = net(torch.ones(8192, 1024, device="cuda")).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# A layer keeps gelu's input and output, and its own result: 128 + 128 + 32 MiB. Its input is another layer's result.
KEPT = (128 + 128 + 32) * MIB


def test_activations_of_remaining_layers_are_predicted(tmp_path):
    run = on_card(PROGRAM, tmp_path, card="3GiB", expect=1)
    report = run.report()
    layers = report["verdict"]["layers_to_come"]
    assert layers["name"] == "layers.*" and layers["layers"] == 12
    assert 3 < layers["current"] < 12
    assert layers["each"] == pytest.approx(KEPT, rel=0.01)
    assert layers["bytes"] == pytest.approx((12 - layers["current"] + 0.5) * KEPT, abs=0.51 * KEPT)
    assert f"Layer {layers['current']} of 12 (layers.*) was running" in " ".join(
        memtrace("report", "--verbose", str(run.trace)).out.split()
    )
    card = next(row for row in report["remedies"] if row["name"] == "a larger card")
    enough = on_card(PROGRAM, tmp_path, card="8GiB").report()
    needed = enough["peak"]["bytes"] + next(row["bytes"] for row in enough["ledger"] if row["name"] == "context")
    assert card["at_least"]
    assert 0.9 * needed < card["predicted_peak"] < needed
    half = next(row for row in report["remedies"] if row["name"] == "half the batch")
    halved = on_card(PROGRAM.replace("8192", "4096"), tmp_path, card="8GiB").report()["peak"]["bytes"]
    assert half["predicted_peak"] < halved + GIB // 2


def test_layers_that_keep_nothing_predict_nothing(tmp_path):
    report = on_card(PROGRAM.replace("8192", "131072"), tmp_path, "no_grad", card="3GiB", expect=1).report()
    assert report["verdict"]["layers_to_come"] is None
