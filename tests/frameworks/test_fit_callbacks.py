# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The callbacks' estimates equal the training's memory; they warn, and change nothing."""

import pytest
from frameworks_under_test import needs_frameworks, run

pytestmark = needs_frameworks

# Memory that the loop itself holds for a moment: losses, counts of tokens.
SMALL = 64 << 10


@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("trainer_fit.py", '{"bf16": true, "gradient_accumulation_steps": 2}'),
        ("trainer_fit.py", '{"optim": "adamw_bnb_8bit", "gradient_checkpointing": true}'),
        ("lightning_estimate.py", '{"precision": "bf16-mixed", "accumulate_grad_batches": 2}'),
    ],
)
def test_estimate_equals_what_the_training_takes(tmp_path, program, options):
    told = run(program, tmp_path, "", options, options=("--allocator", "native"), card="8GiB").printed()
    estimate = told["estimates"][0]
    assert len(told["estimates"]) == 1 and estimate["fits"] and told["warned"] == []
    assert estimate["reserved"] == told["own"]["reserved"]
    assert estimate["allocated"] == pytest.approx(told["own"]["allocated"], abs=SMALL)


def test_training_that_will_not_fit_is_warned_of_and_continues(tmp_path):
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    told = run("trainer_fit.py", tmp_path / "with", "900MiB", "{}", card="8GiB").printed()
    without = run("trainer_fit.py", tmp_path / "without", "without", "{}", card="8GiB").printed()
    assert len(told["warned"]) == 1 and without["warned"] == []
    assert told["warned"][0].startswith("memtrace: The model runs out of memory in ")
    assert told["own"] == without["own"]
    assert told["order"] == without["order"] and len(told["order"]) == 12


def test_stop_option_stops_before_the_first_step(tmp_path):
    finished = run("trainer_fit.py", tmp_path, "900MiB", "{}", "stop", card="8GiB", expect=1)
    assert "memtrace._estimate.answer.DoesNotFit: The model runs out of memory in " in finished.err
