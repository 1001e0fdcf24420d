# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`fit` keeps away eighty file operations of the corpus, with a layer and without, and says why it has none."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fit_runs import LAYER, PYTHON, USERS, WAYS, kept_away, run
from support.corpus import CORPUS

CASES = CORPUS / "cases"
needs_corpus = pytest.mark.skipif(not CASES.is_dir(), reason="the corpus of cases is not there (MEMTRACE_CORPUS)")


def tree(mode: str, folder: Path) -> list[str]:
    """Makes the files that the operations are named after, or lists those that have changed since."""
    command = [sys.executable, "fit_tree_before_after.py", str(folder), mode]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


@needs_corpus
@pytest.mark.parametrize("way", WAYS)
def test_every_changed_file_is_redirected_or_named(tmp_path: Path, way: str) -> None:
    for name in ("fit_file_operations.py", "fit_tree_before_after.py"):
        shutil.copy(CASES / name, tmp_path)
    folder = tmp_path / "users"
    tree("make", folder)
    kept = kept_away(way, tmp_path, "fit_file_operations.py", folder)
    changed = {line.split(" ", 1)[1] for line in tree("look", folder)}
    if way != PYTHON:
        assert changed == set() and kept["changed"] == []
        assert kept["files"] + kept["saves"] > 60
    named = {str(Path(name).relative_to(folder)) for name in kept["changed"] if Path(name).is_relative_to(folder)}
    assert changed <= named, sorted(changed - named)
    assert kept["compared_all"]


@needs_corpus
@pytest.mark.parametrize("way", WAYS)
def test_known_escapes_are_redirected_or_named(tmp_path: Path, way: str) -> None:
    shutil.copy(CASES / "fit_escapes.py", tmp_path)
    names = ("bz2", "export.pt2", "fileio", "from_file")
    for name in names:
        (tmp_path / name).write_text("precious precious\n")
    kept = kept_away(way, tmp_path, "fit_escapes.py")
    changed = {name for name in names if (tmp_path / name).read_text(errors="replace") != "precious precious\n"}
    changed |= {path.name for path in tmp_path.iterdir()} - {*names, "fit_escapes.py"}
    assert changed == {Path(name).name for name in kept["changed"]}
    assert way == PYTHON or not changed


WRITING = """
import os, sys, torch
with open(sys.argv[1], "wb") as file:
    file.write(bytes(30 << 20))
weight = torch.nn.Parameter(torch.ones(1024, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    weight.sum().backward()
    optimizer.step()
"""


def written_without_a_layer(way: str, folder: Path, name: str, **settings: str) -> str:
    """Lets a program write into the folder, which must not change. Returns why it has no layer."""
    (folder / "program.py").write_text(WRITING)
    before = sorted(folder.rglob("*"))
    done = run(way, folder, "program.py", name, **settings)
    assert done.returncode == 0, done.stderr
    assert sorted(folder.rglob("*")) == before
    kept = json.loads(done.stdout)["kept_away"]
    assert kept["layer_bytes"] == 0 and kept["files"] == 1
    return str(kept["why_no_layer"])


def folder_of_another_owner(folder: Path) -> Path:
    """Makes a folder of another owner that everybody may write to."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder of another owner")
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    os.chown(folder, 65534, 65534)
    return folder


def test_folder_of_another_owner_has_no_layer_in_a_user_namespace(tmp_path: Path) -> None:
    folder = folder_of_another_owner(tmp_path / "users")
    assert "which has another owner or group" in written_without_a_layer(USERS, folder, "new")


def test_run_that_fails_in_its_layer_is_repeated_without_it(tmp_path: Path) -> None:
    folder_of_another_owner(tmp_path / "users" / "deep" / "others")
    why = written_without_a_layer(USERS, tmp_path / "users", "deep/others/new")
    assert why == "a run failed with a layer, and did not fail without it"


def test_run_that_fills_its_layer_is_repeated_without_it(tmp_path: Path) -> None:
    why = written_without_a_layer(LAYER, tmp_path, "new", MEMTRACE_FIT_OVERLAY="16MiB")
    assert why == "a run failed with a layer, and did not fail without it"
