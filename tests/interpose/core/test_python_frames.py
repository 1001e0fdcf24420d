# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the walk of Python frames by known offsets with each interpreter of this machine."""

import os
import subprocess
from pathlib import Path

import pytest
from support.interpreters import MINORS, interpreter

CHILD = Path(__file__).with_name("python_frames_child.py")
PROBE = Path(os.environ.get("MEMTRACE_BUILD", ".")) / "tests/interpose/core/libpython_frames_probe.so"
# The versions in python_frame_layout.cc; others must use CPython's public functions.
KNOWN_LAYOUTS = {"3.11", "3.12", "3.13"}


@pytest.mark.parametrize("minor", MINORS)
def test_stacks_match_the_interpreter(minor: str) -> None:
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no Python {minor} on this machine")
    expected = "1" if minor in KNOWN_LAYOUTS else "0"
    done = subprocess.run(
        [python, str(CHILD), str(PROBE), expected], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) > 100
