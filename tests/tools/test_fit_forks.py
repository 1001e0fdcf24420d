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
from typing import Any

import pytest
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
# Facts of the answer that differ from run to run, whether it is forked or not.
OF_EACH_RUN = ("seconds", "forks")


@pytest.fixture
def notes() -> Iterator[Path]:
    file = Path("/dev/shm") / f"memtrace-test-{uuid.uuid4()}"
    yield file
    file.unlink(missing_ok=True)


def fit(folder: Path, notes: Path, script: str, *options: str, **settings: str) -> JsonObject:
    """Returns the answer about the script on a card that it does not fit."""
    (folder / "train.py").write_text(script)
    command = [MEMTRACE, "fit", "--card", "960MiB", "--watch", "0", "--json", *options, "--", sys.executable, "train.py"]
    environment = {**os.environ, "NOTES": str(notes), **settings}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found: JsonObject = json.loads(done.stdout)
    if found["kept_away"]["layer_bytes"] == 0:
        pytest.skip(found["kept_away"]["why_no_layer"])
    return found


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in OF_EACH_RUN}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def noted(notes: Path) -> list[JsonObject]:
    return [json.loads(line) for line in notes.read_text().splitlines()]


def test_answer_with_forks_is_the_answer_without(tmp_path: Path, notes: Path) -> None:
    forked = fit(tmp_path, notes, NOTES + TRAINING)
    runs = [note["forked"] for note in noted(notes)]
    assert forked["forks"] == {"runs": runs.count(True) - 1, "why_not": None}  # one more is the proof
    assert runs[:2] == [False, False] and runs.count(True) > 5
    started = fit(tmp_path, notes, NOTES + TRAINING, MEMTRACE_FIT_FORKS="0")
    assert started["forks"] == {"runs": 0, "why_not": None}
    assert [note["forked"] for note in noted(notes)][len(runs) :].count(True) == 0
    assert without_times(forked) == without_times(started)
