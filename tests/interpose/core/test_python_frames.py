# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The walk of Python frames by known offsets, against each interpreter of this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("python_frames_child.py")
PROBE = Path(os.environ.get("MEMTRACE_BUILD", ".")) / "tests/interpose/core/libpython_frames_probe.so"
# What python_frame_layout.cc knows; others must go through CPython's public functions.
KNOWN_LAYOUTS = {"3.11", "3.12", "3.13"}


def interpreter(minor: str) -> str | None:
    """A Python of that minor: this one, on PATH, or one of pyenv's."""
    if minor == f"3.{sys.version_info.minor}":
        return sys.executable
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python{minor}"))
    for candidate in [*map(str, pyenv), shutil.which(f"python{minor}")]:
        # pyenv's shims exist for versions that are not active, and then only fail.
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


@pytest.mark.parametrize("minor", ["3.10", "3.11", "3.12", "3.13", "3.14"])
def test_stacks_are_those_of_the_interpreter(minor: str) -> None:
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no Python {minor} on this machine")
    expected = "1" if minor in KNOWN_LAYOUTS else "0"
    done = subprocess.run(
        [python, str(CHILD), str(PROBE), expected], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) > 100
