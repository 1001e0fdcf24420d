# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Provides the wheel that the tests of this folder check."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake" / "portable"))


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Builds the wheel; MEMTRACE_WHEEL names another one to check."""
    if named := os.environ.get("MEMTRACE_WHEEL"):
        return Path(named)
    folder = ROOT / "build" / "wheel" / "tested"
    for old in folder.glob("*.whl"):
        old.unlink()
    jobs = str(len(os.sched_getaffinity(0)))
    done = subprocess.run(
        [ROOT / "setup" / "wheel.sh", sys.prefix, jobs, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built
