# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the user's line of an allocation, wherever the line is, and that no line is the tool's own."""

import subprocess
from collections import Counter
from pathlib import Path

from support.events import TRACE_TEXT
from support.programs import MIB, memtrace, on_card

# Each line keeps a block of its own size in MiB, and its comment tells the expected line.
SCRIPT = """
import torch
kept = []
def mib(number):
    return torch.empty(number << 20, dtype=torch.uint8, device="cuda")  # 10, 11
a = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
b = torch.empty(2 << 20, dtype=torch.uint8, device="cuda")
c = a.repeat(3)
class Holder:
    held = torch.empty(4 << 20, dtype=torch.uint8, device="cuda")
    def __init__(self):
        self.made = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
holder = Holder()
d = [torch.empty(number << 20, dtype=torch.uint8, device="cuda") for number in (6, 7)]
e = [*(torch.empty(number << 20, dtype=torch.uint8, device="cuda") for number in (8,))]
f = (lambda: torch.empty(9 << 20, dtype=torch.uint8, device="cuda"))()
g = mib(10)
h = mib(11)
exec("\\nimport torch\\ni = torch.empty(12 << 20, dtype=torch.uint8, device='cuda')")
CELL = "import torch\\n\\nname = torch.empty(SIZE << 20, dtype=torch.uint8, device='cuda')"
exec(compile(CELL.replace("SIZE", "13").replace("name", "j"), "<ipython-input-3-6b1f2d3a4c5e>", "exec"))
exec(compile(CELL.replace("SIZE", "14").replace("name", "k"), "/tmp/ipykernel_47/218710.py", "exec"))
l, m = (
    torch.empty(15 << 20, dtype=torch.uint8, device="cuda"),
    torch.empty(16 << 20, dtype=torch.uint8, device="cuda"),
)
"""
LINES = {
    1: "train.py:6",
    2: "train.py:7",
    3: "train.py:8",
    4: "train.py:10",
    5: "train.py:12",
    6: "train.py:14",
    7: "train.py:14",
    8: "train.py:15",
    9: "train.py:16",
    10: "train.py:5",
    11: "train.py:5",
    12: "<string>:3",
    13: "<ipython-input-3-6b1f2d3a4c5e>:3",
    14: "ipykernel_47/218710.py:3",
    15: "train.py:24",
    16: "train.py:25",
}


def test_each_allocating_line_is_its_own_site(tmp_path: Path) -> None:
    expected: Counter[str] = Counter()
    for number, line in LINES.items():
        expected[line] += number
    rows = on_card(SCRIPT, tmp_path, card="2GiB").report()["holdings"]
    assert {row["site"]: row["bytes"] // MIB for row in rows} == expected


def test_stacks_have_no_frames_of_memtrace(tmp_path: Path) -> None:
    script = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).half().cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    loss = torch.utils.checkpoint.checkpoint(model, torch.zeros(8, 64, device="cuda").half(), use_reentrant=False).sum()
    loss.backward()
    optimizer.step()
torch.save(optimizer.state_dict(), "state.pt")
optimizer.load_state_dict(torch.load("state.pt", map_location="cuda"))
"""
    run = on_card(script.replace("state.pt", str(tmp_path / "state.pt")), tmp_path)
    done = subprocess.run([TRACE_TEXT, run.trace], capture_output=True, text=True, timeout=100, check=True)
    assert "train.py" in done.stdout and "Module._apply" in done.stdout
    assert "/memtrace/" not in done.stdout.replace(str(tmp_path), "")


# One function calls these backward passes; the last one makes a gradient of 1 GiB.
BACKWARDS = """
import torch
layers = [torch.nn.Linear(4096, 1024, device="cuda") for _ in range(2)]
def learn(loss):
    loss.backward()
for size in (8, 8, 65536):
    learn(layers[0](torch.zeros(8, 4096, device="cuda")).sum())
    learn(layers[1](torch.zeros(size, 4096, device="cuda", requires_grad=True)).sum())
"""


def test_request_in_a_backward_has_the_line_that_called_it(tmp_path: Path) -> None:
    run = on_card(BACKWARDS, tmp_path, card="2450MiB,context=100MiB", expect=1)
    request = run.report()["request"]
    assert request["at"]["phase"] == "backward" and request["stack"] == []
    assert request["line"] == "train.py:5"
    text = " ".join(memtrace("report", "--verbose", str(run.trace)).out.split())
    assert "at train.py:5 inside the backward pass that it runs" in text
