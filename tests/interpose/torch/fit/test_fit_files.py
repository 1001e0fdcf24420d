# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A trial leaves no trace in the user's folders, and the program does not notice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.events import annotations
from support.programs import on_card

PROGRAM = Path(__file__).with_name("fit_files.py")
INJECT = "import memtrace, os; print(os.path.join(os.path.dirname(memtrace.__file__), 'inject'))"


@pytest.fixture
def folder(tmp_path) -> Path:
    """Makes the folder that the program fit_files.py expects."""
    folder = tmp_path / "users"
    for name, text in (
        ("old.txt", "old"),
        ("log.txt", "one"),
        ("runs/1/a.txt", "aaa"),
        ("elsewhere/x.txt", "x"),
        ("elsewhere/second.txt", "second"),
        ("full/inner/f.txt", "f"),
        ("full/e.txt", "e"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with open(folder / "big.bin", "wb") as big:
        big.truncate(100 << 20)
    (folder / "data").symlink_to("elsewhere")
    return folder


def contents(folder: Path) -> dict[str, object]:
    """Returns all files with their contents, permissions and times."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        text = path.read_bytes()[:100] if path.is_file() else b""
        found[str(path)] = (text, status.st_mode, status.st_size, status.st_mtime_ns)
    return found


def trial(scratch: Path) -> dict[str, str]:
    return {"MEMTRACE_FIT_SCRATCH": str(scratch)}


def run_python(program: Path, folder: Path, **environment: str) -> str:
    inject = subprocess.run([sys.executable, "-c", INJECT], capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(
        [sys.executable, program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": inject, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_trial_reads_its_own_files_and_leaves_the_folder_unchanged(tmp_path, folder):
    before = contents(folder)
    scratch = tmp_path / "scratch"
    in_trial = run_python(PROGRAM, folder, **trial(scratch))
    assert contents(folder) == before
    assert (scratch / str(folder.relative_to("/")) / "new.txt").read_text() == "new"
    assert run_python(PROGRAM, folder) == in_trial  # as without a trial
    assert contents(folder) != before


BY_DESCRIPTOR = """
import os
folder = os.open(".", os.O_RDONLY)
os.unlink("old.txt", dir_fd=folder)
os.rename("log.txt", "moved.txt", src_dir_fd=folder, dst_dir_fd=folder)
os.mkdir("made", dir_fd=folder)
os.symlink("moved.txt", "link", dir_fd=folder)
with open(os.open("new.txt", os.O_WRONLY | os.O_CREAT, dir_fd=folder), "w") as new:
    new.write("new")
assert not os.path.exists("old.txt") and open("moved.txt").read() == "one" and open("new.txt").read() == "new"
assert os.stat("made", dir_fd=folder) and os.readlink("link", dir_fd=folder) == "moved.txt"
os.rmdir("made", dir_fd=folder)
assert not os.path.exists("made")
"""


def test_paths_relative_to_an_open_folder_are_redirected(tmp_path, folder):
    before = contents(folder)
    program = tmp_path / "by_descriptor.py"
    program.write_text(BY_DESCRIPTOR)
    run_python(program, folder, **trial(tmp_path / "scratch"))
    assert contents(folder) == before


OTHER_PROGRAMS = """
import os, subprocess, sys
subprocess.run(["/usr/bin/env", "touch", "made.txt"], check=True)
subprocess.run(["/usr/bin/env", "true"], close_fds=False)  # by posix_spawn: still one
subprocess.run("true", shell=True)
os.system("touch made.txt")
os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
subprocess.run(["uname"], stdout=subprocess.DEVNULL)
subprocess.run([sys.executable, "-c", "1"])
import torch
torch.empty(1, device="cuda")
"""


def test_only_other_programs_of_the_user_are_counted(tmp_path, folder, monkeypatch):
    monkeypatch.chdir(folder)
    told = annotations(on_card(OTHER_PROGRAMS, tmp_path, **trial(tmp_path / "scratch")).trace)
    assert told["fit.other_programs.count"] == "5"
    assert json.loads(told["fit.other_programs.first"]) == ["env", "sh", "touch", "true"]


def test_program_that_starts_no_other_has_no_count(tmp_path, folder, monkeypatch):
    monkeypatch.chdir(folder)
    told = annotations(on_card("import torch; torch.empty(1, device='cuda')", tmp_path, **trial(tmp_path / "s")).trace)
    assert told["fit.kept_away.files"] == "0" and not [key for key in told if key.startswith("fit.other_programs")]
