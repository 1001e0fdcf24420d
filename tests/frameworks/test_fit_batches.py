# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A trial of `memtrace fit` runs frameworks' largest batch in its first steps, and its peak is the whole job's."""

import json

import pytest
from frameworks_under_test import needs_frameworks, run
from support.events import annotations

pytestmark = needs_frameworks

NATIVE = ("--allocator", "native")
# Copies of batches and the counts of tokens that a framework keeps for a moment.
SMALL = 1 << 20
GRADIENTS = 70 << 20


PROGRAMS = ("trainer", "grouped", "workers", "streamed", "trl", "packed", "lightning", "stateful", "stateful_stream")


@pytest.mark.parametrize("program", PROGRAMS)
def test_peak_of_the_first_steps_is_that_of_the_whole_job(tmp_path, program):
    (tmp_path / "whole").mkdir()
    whole = run(
        "late_batches.py",
        tmp_path / "whole",
        program,
        options=NATIVE,
        MEMTRACE_FIT_STEPS="1000:1000",
        MEMTRACE_FIT_BATCH_ORDER="as-is",
    )
    first = run("late_batches.py", tmp_path, program, options=NATIVE, MEMTRACE_FIT_STEPS="2:8")
    told, seen = annotations(whole.trace), annotations(first.trace)
    (loader,) = (each for each in json.loads(seen["fit.batches"]) if each["trains"])
    assert int(seen["fit.steps"]) < int(told["fit.steps"]) or program == "packed"
    # The requested bytes: how torch rounds them depends on the blocks that earlier batches left.
    beyond = first.stats()["devices"][0]["peak"] - whole.stats()["devices"][0]["peak"]
    # Both micro-batches of a step are the largest in the trial; in the job's own order it was the first, without
    # gradients beside it.
    assert -SMALL <= beyond <= (GRADIENTS if program == "workers" else SMALL)
    if program != "packed":
        assert loader["largest"][0]["longest"] == 256 and loader["largest"][0]["first_step"] == 1
        assert loader["largest"][0]["last_step"] >= 2
    assert loader["said"] and seen["fit.gaps"] == "[]"


def test_loader_that_continues_within_an_epoch_is_left_alone_and_said(tmp_path):
    shortened = {"MEMTRACE_FIT_STEPS": "1000:1000", "MEMTRACE_FIT_MOMENTS": "job"}
    facts = annotations(run("late_batches.py", tmp_path, "stateful_continued", options=NATIVE, **shortened).trace)
    (gap,) = json.loads(facts["fit.gaps"])
    # It passes over 11 of the 12 batches itself, more than a shortened epoch has.
    assert facts["fit.steps"] == "1"
    assert (gap["moment"], gap["why_not"]) == (
        "largest_batch",
        "It continued within an epoch (load_state_dict), so its batches were not reordered.",
    )
