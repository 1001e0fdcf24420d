# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's ZeRO engine on one rank."""

import pytest
from frameworks_under_test import assert_complete, assert_explained, needs_frameworks, role, run, torchrun

pytestmark = needs_frameworks


@pytest.mark.parametrize("stage", ["1", "2"])
def test_fitting_run_is_recorded_completely_and_its_roles_add_up(tmp_path, stage):
    finished = run("deepspeed_zero.py", tmp_path, stage, launcher=torchrun(1))
    told = finished.printed()
    report = assert_complete(finished, told)
    # bf16 weights and the fp32 ones that the optimizer steps; two fp32 states of each.
    assert role(report, "parameter") == 2 * told["numbers"] + 4 * told["numbers"]
    assert role(report, "optimizer_state") == 8 * told["numbers"]
    assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]


def test_card_too_small_for_the_bucket_is_explained(tmp_path):
    finished = run("deepspeed_zero.py", tmp_path, "2", card="1300MiB", launcher=torchrun(1), expect=1)
    # The bucket for gathered gradients, 953.7 MiB: it does not fit such a card beside a context of 500 MiB.
    report = assert_explained(finished, cause="too_large")
    assert report["request"]["bytes"] > 500_000_000
