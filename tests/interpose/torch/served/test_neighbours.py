# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of one user on one card return what they have free to each other."""

import json
from pathlib import Path

import pytest
from support.programs import GIB, memtrace, on_card

TRAINERS = Path(__file__).with_name("turning_trainers.py")
CARD = 24 * GIB
# Long enough for a loaded machine.
PATIENT = {"MEMTRACE_NEIGHBOURS": "20000"}


def test_trainers_whose_peaks_do_not_coincide_share_a_card(tmp_path):
    done = on_card(TRAINERS, tmp_path, options=("--events", "lazy"), **PATIENT)
    ended = done.printed()
    assert [status for _, status in ended] == [0, 0]
    assert sum(reserved for reserved, _ in ended) > 1.4 * CARD
    report = json.loads(memtrace("report", "--json", str(max(tmp_path.glob("run.trace.*")))).out)
    assert {moved["kind"] for moved in report["moved"]} == {"gave_to_neighbour"}


@pytest.mark.slow
@pytest.mark.parametrize("allocator", ["memtrace", "native"])
def test_without_neighbours_the_second_one_dies(allocator, tmp_path):
    done = on_card(TRAINERS, tmp_path, options=("--allocator", allocator), MEMTRACE_NEIGHBOURS="0")
    assert [status for _, status in done.printed()] == [0, 1]
    assert "OutOfMemoryError" in done.err
