# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of `memtrace fit` that are made two at a time: they change no answer."""

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

# Each run notes, in a folder that no layer covers, how many others run when it begins.
NOTES = """
import os
from pathlib import Path

def runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

notes = Path(os.environ["NOTES"])
others = sum(runs(note.name) for note in notes.iterdir())
(notes / str(os.getpid())).write_text(str(others))
"""
# It holds its activations for a while, so that those of two runs would meet on one card.
TRAINING = """
import time
import torch
from torch import nn
model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(12)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    loss = model(torch.randn(8192, 256, device="cuda")).sum()
    time.sleep(0.3)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# A program of which only one can run at a time, as with a port or a lock of its own.
ALONE = """
import fcntl, os
lock = open(os.environ["NOTES"] + ".lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
"""


@pytest.fixture
def notes() -> Iterator[Path]:
    folder = Path("/dev/shm") / f"memtrace-test-{uuid.uuid4()}"
    folder.mkdir()
    yield folder
    for note in folder.iterdir():
        note.unlink()
    folder.rmdir()
    folder.with_suffix(".lock").unlink(missing_ok=True)


def fit(folder: Path, notes: Path, script: str, *options: str, way: str = LAYER) -> subprocess.CompletedProcess[str]:
    """Runs `memtrace fit` for the script on a card that it does not fit."""
    (folder / "train.py").write_text(script)
    asked = ("--card", "960MiB", "--watch", "0", "--trials", "6", *options)
    done = subprocess.run(
        [*without_rights(way), MEMTRACE, "fit", *asked, "--", sys.executable, "train.py"],
        cwd=folder,
        env={**os.environ, "NOTES": str(notes)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done


def answer(folder: Path, notes: Path, at_once: str, way: str) -> JsonObject:
    """Returns the answer about the training; skips if the kernel refuses a layer."""
    found: JsonObject = json.loads(fit(folder, notes, NOTES + TRAINING, "--json", "--at-once", at_once, way=way).stdout)
    if found["kept_away"]["layer_bytes"] == 0:
        pytest.skip(found["kept_away"]["why_no_layer"])
    return found


def found_beside(notes: Path) -> list[int]:
    """Returns how many other runs each one found when it began, if any, and removes the notes."""
    counts = [int(note.read_text()) for note in notes.iterdir()]
    for note in notes.iterdir():
        note.unlink()
    return [count for count in counts if count > 0]


@pytest.mark.parametrize(("forks", "way"), [("1", LAYER), ("0", LAYER), ("0", USERS)])
def test_answer_is_that_of_one_run_at_a_time(
    tmp_path: Path, notes: Path, forks: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTRACE_FIT_FORKS", forks)
    both = answer(tmp_path, notes, "2", way)
    beside = found_beside(notes)
    assert set(beside) == {1}
    assert len(beside) >= 3  # none failed because of the other, after which all run alone
    single = answer(tmp_path, notes, "1", way)
    assert found_beside(notes) == []
    assert without_times(both) == without_times(single)
    assert (both["forks"]["runs"] > 0) == (forks == "1")


def test_program_that_fails_beside_another_run_is_run_again_alone(tmp_path: Path, notes: Path) -> None:
    both = fit(tmp_path, notes, ALONE + TRAINING, "--at-once", "2")
    if "own layer over all file systems" not in both.stdout:
        pytest.skip("the kernel refuses a layer")
    single = fit(tmp_path, notes, ALONE + TRAINING, "--at-once", "1")
    assert both.stderr.count(", alone ...") == both.stderr.count(", beside another run") == 1
    assert both.stdout == single.stdout
