# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""transformers' generate: it ends, and all its memory is recorded."""

from frameworks_under_test import assert_complete, needs_frameworks, role, run

pytestmark = needs_frameworks


def test_run_is_recorded_completely(tmp_path):
    finished = run("generate.py", tmp_path)
    told = finished.printed()
    report = assert_complete(finished, told)
    # No kernel runs, so the test for an end of sequence has any result; the limit holds.
    assert 1 <= told["new_tokens"] <= 32
    assert role(report, "parameter") == told["parameters"]
