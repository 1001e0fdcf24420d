# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""States that optimizers will make after a failure, if they have not stepped and their parameters get gradients."""

from pathlib import Path

from support.programs import MIB, on_card

# Four clients of 32 MiB are trained one after the other: each leaves gradients of 32 MiB and states of 64 MiB.
CLIENTS = """
import torch
from torch import nn
clients = [nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(8)]).cuda() for _ in range(4)]
optimizers = [torch.optim.Adam(client.parameters()) for client in clients]
for client, optimizer in zip(clients, optimizers):
    client(torch.zeros(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
"""
# The second half of the model contributes to no loss.
UNUSED = """
import torch
from torch import nn
used, unused = nn.Linear(2048, 2048, bias=False).cuda(), nn.Linear(2048, 2048, bias=False).cuda()
optimizer = torch.optim.SGD([*used.parameters(), *unused.parameters()], lr=0.1, momentum=0.9)
for rows in (8, 8, 32768):
    optimizer.zero_grad()
    used(torch.zeros(rows, 2048, device="cuda")).sum().backward()
    optimizer.step()
"""


def test_states_of_unstepped_optimizers_are_predicted(tmp_path: Path) -> None:
    report = on_card(CLIENTS, tmp_path, card="444MiB,context=100MiB", expect=1).report()
    verdict = report["verdict"]
    assert verdict["cause"] == "capacity", verdict
    assert "All optimizer states exist" not in verdict["sentence"], verdict["sentence"]
    to_come = verdict["still_to_come"]
    assert to_come["optimizer_states"] + to_come["optimizer_states_made"] == 4 * 64 * MIB, to_come
    assert to_come["at_least"] is True, to_come
    fused = next(row for row in report["remedies"] if row["name"] == "fused optimizer")
    assert fused["predicted_peak"] > report["card"]["bytes"], fused


def test_parameter_without_gradients_gets_no_predicted_state(tmp_path: Path) -> None:
    report = on_card(UNUSED, tmp_path, card="400MiB,context=100MiB", expect=1).report()
    assert report["moment"]["at"]["step"] == 3, report["moment"]
    assert "optimizer.step() will make" not in report["verdict"]["sentence"], report["verdict"]["sentence"]
