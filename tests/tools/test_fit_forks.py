# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of `memtrace fit` that are forked after the imports: their answers are those of runs that are started."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from fit_runs import LAYER, USERS, without_rights, without_times
from support.json_object import JsonObject
from support.programs import MEMTRACE

# Each run adds a line to a file that no layer covers: what it sees of its process before its first import.
NOTES = """
import json, os, sys
with open(os.environ["NOTES"], "a") as notes:
    notes.write(json.dumps({"forked": "torch" in sys.modules}) + "\\n")
"""
TRAINING = """
import torch
from torch import nn
model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(12)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    model(torch.randn(8192, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.fixture
def notes() -> Iterator[Path]:
    file = Path("/dev/shm") / f"memtrace-test-{uuid.uuid4()}"
    yield file
    file.unlink(missing_ok=True)


def fit(folder: Path, notes: Path, script: str, forks: bool, way: str = LAYER) -> JsonObject:
    """Returns the answer about the script on a card that it does not fit, after three runs with changes."""
    (folder / "train.py").write_text(script)
    asked = ("--card", "960MiB", "--watch", "0", "--trials", "3", "--json")
    settings = {"NOTES": str(notes), **({} if forks else {"MEMTRACE_FIT_FORKS": "0"})}
    done = subprocess.run(
        [*without_rights(way), MEMTRACE, "fit", *asked, "--", sys.executable, "train.py"],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found: JsonObject = json.loads(done.stdout)
    if found["kept_away"]["layer_bytes"] == 0:
        pytest.skip(found["kept_away"]["why_no_layer"])
    return found


def noted(notes: Path) -> list[JsonObject]:
    return [json.loads(line) for line in notes.read_text().splitlines()]


@pytest.mark.parametrize("way", [LAYER, USERS])
def test_answer_with_forks_is_the_answer_without(tmp_path: Path, notes: Path, way: str) -> None:
    forked = fit(tmp_path, notes, NOTES + TRAINING, forks=True, way=way)
    runs = [note["forked"] for note in noted(notes)]
    assert forked["forks"] == {"runs": runs.count(True) - 1, "why_not": None}  # one more is the proof
    assert runs[:2] == [False, False] and runs.count(True) >= 3
    started = fit(tmp_path, notes, NOTES + TRAINING, forks=False, way=way)
    assert started["forks"] == {"runs": 0, "why_not": None}
    assert not any(note["forked"] for note in noted(notes)[len(runs) :])
    assert without_times(forked) == without_times(started)


def test_program_that_is_another_one_in_a_fork_is_started(tmp_path: Path, notes: Path) -> None:
    notices = NOTES + "is_forked = 'torch' in sys.modules\n" + TRAINING
    notices = notices.replace("optimizer.step()", "optimizer.step(); kept = torch.zeros(4096 * (1 + is_forked)).cuda()")
    found = fit(tmp_path, notes, notices, forks=True)
    assert found["forks"] == {"runs": 0, "why_not": "the peaks of a forked run differ"}
    assert [note["forked"] for note in noted(notes)].count(True) == 1
