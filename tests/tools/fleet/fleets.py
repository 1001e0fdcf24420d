# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A fleet of real traces: two versions of a script, and one that runs out of memory."""

import json
import shutil
from pathlib import Path
from typing import Any

from support.programs import memtrace, on_card

TRAINING = """
import sys
import torch

WIDTH = {width}
model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(24):
    model(torch.ones(8, WIDTH, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(torch.empty({kept}, dtype=torch.uint8, device="cuda"))
if len(sys.argv) > 1:
    too_much = torch.empty(int(sys.argv[1]) << 30, device="cuda")
"""
FIRST, SECOND = {"width": 256, "kept": 1 << 12}, {"width": 2048, "kept": 1 << 20}
GROWTH = SECOND["kept"]  # of the second version, in each step
LINE_OF_FAILURE = TRAINING.splitlines().index('    too_much = torch.empty(int(sys.argv[1]) << 30, device="cuda")') + 1


def record(folder: Path) -> Path:
    """Records a fleet into `folder`/traces, with a subfolder. Returns that folder."""
    traces = folder / "traces"
    (traces / "second").mkdir(parents=True)
    for name, version, arguments, status in (
        ("first.trace", FIRST, (), 0),
        ("second/ok.trace", SECOND, (), 0),
        ("second/full.trace", SECOND, ("40",), 1),
    ):
        done = on_card(TRAINING.format(**version), folder, *arguments, expect=status)
        shutil.move(done.trace, traces / name)
    return traces


def spoil(traces: Path) -> set[str]:
    """Adds files that cannot be read completely, and one that is no trace. Returns the names of the former."""
    whole = (traces / "first.trace").read_bytes()
    (traces / "cut.trace").write_bytes(whole[:-1])
    (traces / "begun.trace.4711").write_bytes(whole[:6000])
    (traces / "empty.trace").touch()
    (traces / "other.trace").write_text("{}")
    (traces / "notes.txt").write_text("no trace")
    return {"cut.trace", "begun.trace.4711", "empty.trace", "other.trace"}


def table(traces: Path, *, status: int = 0) -> Path:
    """Writes the table of a folder beside it."""
    file = traces.parent / f"{traces.name}.parquet"
    done = memtrace("fleet", str(traces), "-f", "-o", str(file))
    assert done.status == status, done.err
    return file


def ask(sql: str, file: Path) -> list[dict[str, Any]]:
    """Returns the rows of an answer."""
    done = memtrace("fleet", "query", sql, "--from", str(file), "--json")
    assert done.status == 0, done.err
    answer = json.loads(done.out)
    assert answer["schema"] == "memtrace.fleet/1"
    rows: list[dict[str, Any]] = answer["rows"]
    return rows
