# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Results that a list keeps on the card: the report says to move them to the host, and that cure works."""

from pathlib import Path

import pytest
from support.programs import on_card

# Training needs little. Each of four passes then makes a result of 64 MiB, and the third fails.
PROGRAM = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 8192)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.zeros(16, 256, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
def evaluate():
    results = []
    for _ in range(4):
        results.append(model(torch.zeros(2048, 256, device="cuda")))
    return len(results)
with torch.set_grad_enabled(GRADIENTS):
    evaluate()
"""
CARD = "312MiB,context=100MiB"
# Torches differ in what they keep for cuBLAS.
WORKSPACES = {"CUBLAS_WORKSPACE_CONFIG": ":16:8", "CUBLASLT_WORKSPACE_SIZE": "16"}


def program(gradients: bool, kept: str = "") -> str:
    """Returns the program with or without gradients in its evaluation."""
    append = 'model(torch.zeros(2048, 256, device="cuda"))'
    return PROGRAM.replace("GRADIENTS", str(gradients)).replace(append, append + kept)


@pytest.mark.parametrize("gradients", [False, True])
def test_results_in_a_list_go_to_the_host(tmp_path: Path, gradients: bool) -> None:
    report = on_card(program(gradients), tmp_path, card=CARD, expect=1, **WORKSPACES).report()
    first = report["remedies"][0]
    assert first["name"] == "do not keep" and "'results'" in first["change"], report["remedies"]
    assert "to the host" in first["change"]
    assert not any("half the" in row["name"] for row in report["remedies"]), report["remedies"]
    assert "keeps" in report["verdict"]["sentence"] and "results of earlier passes" in report["verdict"]["sentence"]


@pytest.mark.parametrize("gradients", [False, True])
def test_results_on_the_host_complete(tmp_path: Path, gradients: bool) -> None:
    on_card(program(gradients, ".detach().cpu()"), tmp_path, card=CARD, **WORKSPACES)
