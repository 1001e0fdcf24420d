# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the other verbs that read traces as test_reader_memory.py tests `memtrace report`."""

from pathlib import Path

import pytest
from support.hostile_files import TRACES
from test_reader_memory import read, write


@pytest.mark.parametrize("name", TRACES)
def test_other_verbs_read_hostile_traces_within_the_memory_limit(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, TRACES[name])
    read(file, "stats")
    read(file, "stats", "--json")
    read(file, "verify")
    read(file, "diff", "--at", "peak", "--at", "end")
    read(file, "repair", "-o", str(tmp_path / "out.trace"))
    read(file, "replay", "--policy", "memtrace", may_refuse=True)
    read(file, "export", "-f", "--to", "jsonl", "-o", str(tmp_path / "out.jsonl"))
