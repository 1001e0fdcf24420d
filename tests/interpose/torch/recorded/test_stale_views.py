# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Views of which torch cannot find the function, because their base was changed in place. FSDP1 leaves such ones."""

from support.events import annotations
from support.programs import on_card

PROGRAM = """
import torch
net = torch.nn.Linear(256, 256).cuda()
optimizer = torch.optim.SGD(net.parameters())
for _ in range(2):
    net(torch.ones(64, 256, device="cuda")).sum().backward()
    optimizer.step()
whole = net.weight * 2
parts = whole.split(128)
part = parts[0]
whole.mul_(2)
with torch.no_grad():
    net(part)
kept = [net(torch.ones(64, 256, device="cuda")) for _ in range(8)]
{end}
"""
OUT_OF_MEMORY = """
try:
    torch.empty(1 << 40, device="cuda")
except torch.OutOfMemoryError:
    pass
"""


def test_program_runs_and_what_it_keeps_is_stated(tmp_path):
    finished = on_card(PROGRAM.format(end=""), tmp_path)
    assert finished.err == ""
    facts = annotations(finished.trace)
    assert '"name": "kept"' in facts["keeper.0"] and '"count": 8' in facts["keeper.0"]
    roles = {row["name"]: row["bytes"] for row in finished.report()["peak"]["by_role"]}
    assert roles["parameter"] == 4 * (256 * 256 + 256)


def test_out_of_memory_is_explained(tmp_path):
    finished = on_card(PROGRAM.format(end=OUT_OF_MEMORY), tmp_path)
    assert "could not be found" not in finished.err and "memtrace's own" not in finished.err
    assert finished.report()["verdict"]["cause"] == "too_large"
