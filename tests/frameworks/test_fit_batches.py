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


@pytest.mark.parametrize("program", ["trainer", "grouped", "workers", "streamed", "trl", "packed", "lightning"])
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
    assert int(seen["fit.peak_allocated.0"]) == pytest.approx(int(told["fit.peak_allocated.0"]), abs=SMALL)
    if program != "packed":
        assert loader["largest"][0]["longest"] == 256 and loader["largest"][0]["first_step"] == 1
        assert loader["largest"][0]["last_step"] >= 2
    assert loader["said"] and seen["fit.gaps"] == "[]"
