# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""No reader takes more than 4 times its file's bytes and 256 MiB, even for a cut or crafted file."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.hostile_files import BYTES, LOGS, MIB, PICKLES, PROFILES, TRACES, good_log
from support.programs import MEMTRACE, ROOT

DONE, REFUSED, UNREADABLE, PARTIAL = 0, 2, 3, 4
PEAK_MEMORY = ROOT / "tests" / "support" / "peak_memory.py"


def read(file: Path, *words: str, may_refuse: bool = False) -> int:
    """Runs a verb on the file, checks that its memory is within the limit and its output short; returns its status.

    `may_refuse` allows the verb to say that it has nothing to do.
    """
    command = [sys.executable, "-S", "-E", PEAK_MEMORY, MEMTRACE, *words, file]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, status = (int(word) for word in done.stdout.split())
    most = 4 * file.stat().st_size + 256 * MIB
    assert peak * 1024 <= most, (words, f"{peak // 1024} MiB of {most // MIB}")
    assert status in (DONE, UNREADABLE, PARTIAL, *((REFUSED,) if may_refuse else ())), (words, status, done.stderr)
    assert done.stderr.count("\n") <= 3
    assert status != UNREADABLE or done.stderr or words[0] == "verify"  # which prints it in its own line
    return status


def write(folder: Path, bytes_of: Callable[[], bytes]) -> Path:
    file = folder / "file"
    file.write_bytes(bytes_of())
    return file


@pytest.mark.parametrize("name", TRACES)
def test_hostile_traces_are_read_within_the_memory_limit(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, TRACES[name])
    read(file, "report")


@pytest.mark.parametrize("name", PICKLES)
def test_hostile_pickles_are_read_within_the_memory_limit(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, PICKLES[name])
    read(file, "stats")
    read(file, "report")


@pytest.mark.parametrize("name", PROFILES)
def test_hostile_profiles_are_read_within_the_memory_limit(tmp_path: Path, name: str) -> None:
    read(write(tmp_path, PROFILES[name]), "import", "-o", str(tmp_path / "out.trace"))


@pytest.mark.parametrize("name", LOGS)
def test_hostile_logs_are_read_within_the_memory_limit(tmp_path: Path, name: str) -> None:
    read(write(tmp_path, LOGS[name]), "import", "-o", str(tmp_path / "out.trace"))


def test_valid_log_and_its_trace_are_read_whole_and_truncated(tmp_path: Path) -> None:
    log = write(tmp_path, lambda: good_log(BYTES // 80))
    trace = tmp_path / "good.trace"
    assert read(log, "import", "-o", str(trace)) == DONE
    assert read(trace, "stats") == DONE
    assert read(trace, "report") == DONE
    for part in (0.3, 0.99):
        os.truncate(trace, int(trace.stat().st_size * part))
        assert read(trace, "stats") == PARTIAL
    os.truncate(log, log.stat().st_size // 2)
    assert read(log, "import", "-f", "-o", str(trace)) == PARTIAL


def test_rejection_for_memory_is_explained(tmp_path: Path) -> None:
    file = write(tmp_path, TRACES["living_blocks"])
    done = subprocess.run([MEMTRACE, "report", file], capture_output=True, text=True, check=False)
    assert done.returncode == UNREADABLE
    assert "4 times its size and 256 MiB" in done.stderr and done.stderr.count("\n") == 1
