# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Captured graphs that take turns share memory; replays of graphs whose memory sleeps are refused."""

from pathlib import Path

import pytest
from support.programs import ROOT, on_card

TESTS = str(ROOT / "tests")
PROGRAM = Path(__file__).with_name("graphs_in_turns.py")
MIB = 1 << 20


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return on_card(
        PROGRAM, tmp_path_factory.mktemp("turns"), card="3GiB", options=("--events", "lazy"), PYTHONPATH=TESTS
    )


@pytest.fixture(scope="module")
def told(done):
    return done.printed()


def test_graphs_keep_the_memory_of_the_largest(told):
    assert told["saved"] == told["card"] == told["reserved"]
    # All but the largest graph's, less what does not fit into whole chunks of at most 32 MiB.
    assert told["saved"] >= (256 + 192 + 256 - 3 * 32) * MIB


def test_replay_waits_for_the_one_before_on_another_stream(told):
    assert told["waited"] == [True, True]


def test_capture_after_the_call_gets_other_memory(told):
    assert told["later"] >= 4 * MIB  # its output takes none of the memory that is shared


def test_memory_goes_with_the_last_graph(told):
    assert told["after"] < 40 * MIB


def test_refusals_say_what_to_do(told):
    assert told["one"] == "ValueError: memtrace.graphs_take_turns: give graphs of two or more pools."
    assert told["uncaptured"] == "RuntimeError: memtrace.graphs_take_turns: a graph is not captured yet."


def test_replay_of_a_sleeping_graph_names_the_owner(told):
    assert told["asleep"] == (
        "RuntimeError: CUDAGraph.replay: the graph uses memory of 'policy', which is asleep. "
        "Call memtrace.wake('policy')."
    )
    assert told["awake"] == "ran"


def test_card_sees_no_fault_and_the_trace_what_was_saved(done, told):
    assert "fault" not in done.err
    (moved,) = [moved for moved in done.report()["moved"] if moved["kind"] == "took_turns"]
    assert moved["bytes"] == told["saved"]
