# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of tests/interpose/torch/recorded/test_cupti.py on a real card. Not yet measured on a GPU."""

import subprocess
import sys

import pytest
from support.cupti_contract import PROGRAM, check_gap, check_kept_block, check_kernels
from support.programs import MEMTRACE, Finished
from with_real_driver import reason_to_skip

REASON = reason_to_skip()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")


def on_real_card(folder, *arguments, options=("--cupti",)):
    trace = folder / "run.trace"
    command = [MEMTRACE, "run", "-q", "-f", "-o", trace, *options, "--", sys.executable, PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return Finished(done.returncode, done.stdout, done.stderr, trace)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    finished = on_real_card(tmp_path_factory.mktemp("cupti"))
    activities = finished.stats()["activities"]
    if activities["state"] == "refused":
        pytest.skip(f"CUPTI refuses: {activities['reason']}")
    return finished


def test_kernels_are_tied_to_blocks(run):
    check_kernels(run)


def test_block_unwritten_for_steps_is_named_first(run):
    check_kept_block(run)


@pytest.mark.usefixtures("run")
def test_profile_is_unchanged_and_the_gap_is_recorded(tmp_path):
    plain = on_real_card(tmp_path, "profile", options=())
    ours = on_real_card(tmp_path, "profile")
    assert ours.printed() == plain.printed()
    check_gap(ours)
