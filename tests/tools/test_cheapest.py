# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The cheapest plan that `memtrace fit` finds for a real program, followed by hand and found true."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.programs import MEMTRACE

# Twelve blocks, each of which keeps 64 MiB of activations, and 100 MiB for the rest. `sys.argv[1]` blocks are
# checkpointed by hand.
TRAINING = """
import sys, torch
from torch.utils.checkpoint import checkpoint

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.narrow = torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)
    def forward(self, x):
        return x + self.narrow(torch.nn.functional.gelu(self.wide(x)))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(12))
    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False) if i < int(sys.argv[1]) else block(x)
        return x

model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(4):
    model(torch.randn(8192, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def fit(folder: Path, blocks: int, *options: str) -> subprocess.CompletedProcess[str]:
    script = folder / "train.py"
    script.write_text(TRAINING)
    command = [MEMTRACE, "fit", *options, "--watch", "0", "--", sys.executable, script, str(blocks)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def test_cheapest_plan_is_the_least_that_fits_by_hand_too(tmp_path: Path) -> None:
    card = ("--card", "960MiB")
    done = fit(tmp_path, 0, *card, "--margin", "0", "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    plan = found["remedies"][found["cheapest"]["plan"]]
    degrees = {change["hook"]: change["degree"] for change in plan["changes"]}
    layers = degrees["checkpoint"]
    assert plan["fits"] and 1 <= layers < 12 and len(degrees) == 1
    one_less = found["remedies"][found["cheapest"]["one_less"][0]]
    assert not one_less["fits"] and one_less["changes"][0]["degree"] == layers - 1
    assert found["recommended"] == plan["name"]
    # The same, written into the script.
    assert fit(tmp_path, layers, *card, "--no-remedies").returncode == 0
    assert fit(tmp_path, layers - 1, *card, "--no-remedies").returncode == 1
    # More layers take more time and less memory.
    best = [point for point in found["frontier"] if point["on_frontier"] and not point["may_change_results"]]
    assert [point["needs"] for point in best] == sorted((point["needs"] for point in best), reverse=True)
    assert best[0]["time_ratio"] == pytest.approx(1, abs=0.01)
    page = tmp_path / "fit.html"
    done = fit(tmp_path, 0, *card, "--trials", "6", "-o", str(page))
    assert done.returncode == 1 and done.stdout == "", done.stderr
    assert 'class="frontier"' in page.read_text()
