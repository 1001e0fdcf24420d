# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Eighty file operations of the corpus: none changes a user's file under a layer, and without one each is named."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fit_runs import PYTHON, WAYS, kept_away
from support.corpus import CORPUS

CASES = CORPUS / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the corpus of cases is not there (MEMTRACE_CORPUS)")


def tree(mode: str, folder: Path) -> list[str]:
    """Makes the files that the operations are named after, or tells which differ from how they were made."""
    command = [sys.executable, "fit_tree_before_after.py", str(folder), mode]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


@pytest.mark.parametrize("way", WAYS)
def test_no_operation_changes_a_file_without_a_word(tmp_path: Path, way: str) -> None:
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


@pytest.mark.parametrize("way", WAYS)
def test_the_escapes_of_the_corpus_are_kept_away_or_named(tmp_path: Path, way: str) -> None:
    shutil.copy(CASES / "fit_escapes.py", tmp_path)
    names = ("bz2", "export.pt2", "fileio", "from_file")
    for name in names:
        (tmp_path / name).write_text("precious precious\n")
    kept = kept_away(way, tmp_path, "fit_escapes.py")
    changed = {name for name in names if (tmp_path / name).read_text(errors="replace") != "precious precious\n"}
    changed |= {path.name for path in tmp_path.iterdir()} - {*names, "fit_escapes.py"}
    assert changed == {Path(name).name for name in kept["changed"]}
    assert way == PYTHON or not changed
