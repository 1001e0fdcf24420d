# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Passes of an untrained model beside one that is trained, and programs that only look like that."""

from pathlib import Path

from support.json_object import JsonObject
from support.programs import MIB, on_card

MODELS = """
import torch
from torch import nn
def made():
    return nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))]).cuda()
teacher, student = made().eval(), made()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
x = torch.zeros(4096, 256, device="cuda")
def loss_of(target, output):
    return (output - target).pow(2).mean()
"""
ONE_GELU = 16 * MIB  # saved bytes: its input, and the next layer's


def report(script: str, folder: Path, expect: int = 0) -> JsonObject:
    return on_card(MODELS + script, folder, card="1GiB", expect=expect).report()


def test_unused_graph_of_a_teacher_is_named(tmp_path: Path) -> None:
    script = "target = teacher(x)\nloss_of(target.detach(), student(x.repeat(64, 1))[:4096]).backward()\n"
    found = report(script, tmp_path, expect=1)
    untrained = found["untrained_passes"]
    assert untrained["calls"] == 1 and untrained["line"].endswith(":11")
    assert untrained["bytes"] >= 8 * ONE_GELU
    row = next(row for row in found["remedies"] if row["name"] == "no graph")
    assert untrained["line"] in row["change"] and row["at_least"]


def test_needed_or_released_graphs_are_not_named(tmp_path: Path) -> None:
    script = """
kept = [teacher(student(x))]  # the gradient goes on through it
with torch.no_grad():
    kept.append(teacher(x))
hook = teacher[2].register_forward_hook(lambda module, inputs, output: output + steer)
steer = nn.Parameter(torch.zeros(256, device="cuda"))
kept.append(teacher(x))  # its hook brings in what may be trained
hook.remove()
kept.append(student.eval()(x))  # trained in eval mode
student(x.repeat(64, 1)).sum().backward()
"""
    assert "untrained_passes" not in report(script, tmp_path, expect=1)
