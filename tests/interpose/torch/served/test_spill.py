# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A training that does not fit goes on with memory of the host."""

from pathlib import Path

import pytest
from support.programs import MIB, memtrace, on_card

PROGRAM = Path(__file__).with_name("spilling_training.py")
CARD = "2.75GiB"  # the optimizer step needs 2,560 MiB, and the context 500 MiB
LACKING = (5 * 512 + 500 - 2816) * MIB


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return on_card(
        PROGRAM, tmp_path_factory.mktemp("spill"), card=CARD, options=("--spill", "1GiB", "--events", "lazy")
    )


def test_it_completes_with_little_more_than_it_lacked_on_the_host(done):
    told = done.printed()
    (pressure,) = told["pressures"]  # only the first step moved memory
    assert LACKING <= pressure["moved_bytes"] <= LACKING + 256 * MIB
    assert pressure["host_bytes"] == pressure["moved_bytes"]
    assert told["same address"]
    assert told["memory_reserved"] <= (2816 - 500) * MIB
    assert told["ooms"] == 0


def test_the_card_sees_no_fault_and_one_line_tells_of_the_first_move(done):
    assert "fault" not in done.err
    assert done.err.count("so the host has") >= 1
    assert "mostly of role optimizer_state" in done.err


def test_the_trace_and_the_report_say_what_moved_and_what_came_back(done):
    moved = done.report()["moved"]
    assert {row["kind"] for row in moved} == {"spilled", "came_back"}
    spilled = sum(row["bytes"] for row in moved if row["kind"] == "spilled")
    assert {row["to"] for row in moved if row["kind"] == "spilled"} == {"optimizer_state"}
    assert spilled == sum(row["bytes"] for row in moved if row["kind"] == "came_back")
    assert spilled == done.printed()["pressures"][0]["moved_bytes"]
    text = memtrace("report", "--verbose", str(done.trace)).out
    assert "MOVED TO THE HOST" in text
    first_screen = " ".join(memtrace("report", str(done.trace)).out.split())
    assert "320.0 MiB of its memory moved to the host. All of it came back or was freed." in first_screen
    assert memtrace("verify", str(done.trace)).status == 0


@pytest.mark.slow
def test_without_it_the_same_training_runs_out(tmp_path):
    failed = on_card(PROGRAM, tmp_path, card=CARD, expect=1)
    assert "OutOfMemoryError" in failed.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"MEMTRACE_CARD_HOST": "0"}, "--spill is off, because this driver cannot put host memory behind device"),
        ({"MEMTRACE_CARD_HOST": "64MiB"}, "OutOfMemoryError"),
    ],
)
def test_a_driver_or_a_host_without_room_ends_in_the_usual_error(environment, sentence, tmp_path):
    failed = on_card(PROGRAM, tmp_path, card=CARD, options=("--spill", "1GiB"), expect=1, **environment)
    assert failed.err.count(sentence) == 1 or sentence == "OutOfMemoryError"
    assert "OutOfMemoryError" in failed.err
