# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes that bypass Python's own functions: `memtrace fit` keeps them away, or names them."""

from pathlib import Path

import pytest
from fit_runs import LAYER, PYTHON, kept_away, run

# Each file is named after the function that writes it. With a layer the program must see its own writes.
ESCAPES = """
import bz2, io, os, posix, subprocess, sys, tempfile, torch
bz2.open("bz2", "w").write(b"gone")
io.FileIO("fileio", "w").write(b"gone")
torch.from_file("from_file", shared=True, size=8, dtype=torch.uint8).zero_()
os.close(posix.open("posix", os.O_WRONLY | os.O_TRUNC))
if os.path.exists("unlinked"): posix.unlink("unlinked")
open(f"/proc/self/fd/{os.open('descriptor', os.O_RDONLY)}", "w").write("gone")
write = "open('child', 'w').write('gone')"
subprocess.run([sys.executable, "-I", "-S", "-c", write], env={"PATH": os.environ["PATH"]}, check=True)
os.system("echo gone > shell")
open("python", "w").write("gone")
torch.save({"weight": torch.zeros(1000, device="cuda")}, "model.pt")
open("program", "a").close()
if "MEMTRACE_FIT_SAVES" in os.environ:
    assert {open(name, "rb").read().strip() for name in ("fileio", "descriptor", "child", "shell")} == {b"gone"}
    assert open("posix", "rb").read() == b"" and not os.path.exists("unlinked")
    assert torch.load("model.pt")["weight"].shape == (1000,)
weight = torch.nn.Parameter(torch.ones(1024, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    weight.sum().backward()
    optimizer.step()
"""
WRITTEN = ("bz2", "child", "descriptor", "fileio", "from_file", "posix", "shell", "unlinked")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "users"
    folder.mkdir()
    for name in (*WRITTEN, "python", "model.pt"):
        (folder / name).write_text("precious precious")
    (folder / "program").write_text(ESCAPES)
    return folder


def contents(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_user_files_are_unchanged_under_a_layer(folder: Path) -> None:
    before = contents(folder)
    kept = kept_away(LAYER, folder, "program")
    assert contents(folder) == before
    # All files that were written, and the checkpoint beside them.
    assert (kept["files"], kept["saves"], kept["changed"]) == (len(WRITTEN) + 2, 1, [])
    assert kept["first"][:2] == [str(folder / "model.pt"), str(folder / "bz2")]
    assert kept["other_programs"]["count"] == 0


def test_changed_files_are_named_without_a_layer(folder: Path) -> None:
    before = contents(folder)
    done = run(PYTHON, folder, "program", json=False)
    assert done.returncode == 0, done.stderr
    after = contents(folder)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    assert changed == sorted(WRITTEN)
    said = "".join(done.stdout.split())
    names = ",".join(str(folder / name) for name in changed)
    assert f"{len(changed)}FILESCHANGEDINYOURFOLDERS" in said and f"theprogramdid.Names:{names}." in said
    assert "(MEMTRACE_FIT_OVERLAYis0)" in said
