# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A loop prepared by accelerate, with bf16 autocast and accumulated gradients."""

from frameworks_under_test import assert_complete, assert_explained, needs_frameworks, role, run

pytestmark = needs_frameworks


def test_fitting_run_is_recorded_completely_and_its_roles_add_up(tmp_path):
    finished = run("accelerate_loop.py", tmp_path)
    told = finished.printed()
    report = assert_complete(finished, told)
    assert role(report, "parameter") == told["parameters"]
    assert role(report, "gradient") == told["parameters"]  # kept from the first of two backwards
    assert role(report, "optimizer_state") == told["states"] == 2 * told["parameters"]
    assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]


def test_card_too_small_for_activations_is_explained(tmp_path):
    report = assert_explained(run("accelerate_loop.py", tmp_path, card="700MiB", expect=1))
    assert report["request"]["role"] == "activation"


def test_batch_finder_stops_too_low_unless_the_failed_attempt_is_released(tmp_path):
    card = "1000MiB,context=480MiB"
    alone = run("accelerate_batch_finder.py", tmp_path, card=card)
    released = run("accelerate_batch_finder.py", tmp_path, "--release", card=card)
    assert (alone.out.split()[0], released.out.split()[0]) == ("6", "12")
