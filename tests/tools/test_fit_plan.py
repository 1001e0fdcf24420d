# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`fit --save-plan` and `--diff`: the changes that fit found, applied by `run --with` and by the patch."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MEMTRACE

# A fused step needs 256 MiB, and one with foreach 320 MiB. The context has 500 MiB.
TRAINING = """
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048, bias=False) for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(
    model.parameters(),
    lr=1e-4,  # small
)
for step in range(6):
    model(torch.randn(4, 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(torch.cuda.max_memory_allocated())
"""
CARD = ("--card", "800MiB")


def memtrace(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MEMTRACE, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=700,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a script whose changes were saved in fit.json; `said.txt` has what fit printed."""
    made = tmp_path_factory.mktemp("plan")
    (made / "train.py").write_text(TRAINING)
    options = (*CARD, "--margin", "0", "--watch", "0", "--save-plan", "fit.json", "--diff")
    done = memtrace(made, "fit", *options, "--", sys.executable, "train.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "wrote fit.json; next: memtrace run --with fit.json -- COMMAND" in done.stderr
    (made / "said.txt").write_text(done.stdout)
    return made


def plan(folder: Path) -> JsonObject:
    return dict(json.loads((folder / "fit.json").read_text()))


def test_saved_changes_name_what_was_changed(folder: Path) -> None:
    saved = plan(folder)
    fused = next(change for change in saved["changes"] if change["name"] == "fused")
    assert (fused["places"], fused["of"], fused["target"], fused["line"]) == (1, 1, "AdamW", "train.py:5")
    assert saved["script"]["name"] == "train.py" and saved["script"]["arguments"] == []


def test_run_with_saved_changes_has_the_trials_peak(folder: Path) -> None:
    done = memtrace(folder, "run", *CARD, "--no-trace", "--with", "fit.json", "--", sys.executable, "train.py")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == plan(folder)["expects"]["peak_allocated"]
    assert "memtrace: 'fused' is applied to AdamW, first at train.py:5." in done.stderr


def test_patch_has_the_trials_peak_and_does_not_change_the_script(folder: Path, tmp_path: Path) -> None:
    assert (folder / "train.py").read_text() == TRAINING
    shutil.copy(folder / "train.py", tmp_path)
    subprocess.run(["patch", "-p1", "-i", folder / "said.txt"], cwd=tmp_path, check=True, timeout=60)
    assert "    lr=1e-4, fused=True,  # small\n" in (tmp_path / "train.py").read_text()
    allocator = plan(folder)["allocator"]
    command = ("run", *CARD, "--no-trace", "--allocator", allocator, "--", sys.executable, "train.py")
    done = memtrace(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == plan(folder)["expects"]["peak_allocated"]


def test_edited_script_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING + "# edited\n")
    done = memtrace(tmp_path, "run", *CARD, "--with", folder / "fit.json", "--", sys.executable, "train.py")
    assert done.returncode == 2 and done.stdout == ""
    assert "was made for another version of train.py" in done.stderr


def test_existing_file_is_only_overwritten_on_request(folder: Path) -> None:
    before = (folder / "fit.json").read_text()
    done = memtrace(folder, "fit", *CARD, "--save-plan", "fit.json", "--", sys.executable, "train.py")
    assert done.returncode == 2 and "fit.json exists already; -f overwrites it" in done.stderr
    assert (folder / "fit.json").read_text() == before
