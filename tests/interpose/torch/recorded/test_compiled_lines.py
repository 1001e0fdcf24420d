# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile: allocations of a generated file belong to the compiled region, at the user's line."""

from pathlib import Path

import pytest
from support.programs import on_card


@pytest.mark.parametrize("compiled", ["torch.compile(net)", "net.compile() or net"])
def test_compiled_region_has_its_name_and_the_users_line(
    tmp_path: Path, compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    script = f"""
import torch
net = torch.nn.Sequential(torch.nn.Linear(256, 4096), torch.nn.Linear(4096, 256)).cuda()
net = {compiled}
x = torch.zeros(1024, 256, device="cuda")
for _ in range(2):
    y = net(x)
"""
    report = on_card(script, tmp_path).report()
    assert "torch.compile(Sequential)" in [row["site"] for row in report["holdings"]], report["holdings"]
    lines = {row["line"] for row in report["holdings"] if row["site"] == "torch.compile(Sequential)"}
    assert all(line.startswith("train.py:7") for line in lines), lines
