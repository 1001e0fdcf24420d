# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer.fit: its memory equals torch's to the byte, its roles are known, its failure is explained."""

from frameworks_under_test import assert_complete, assert_explained, needs_frameworks, role, run

pytestmark = needs_frameworks


def test_fitting_run_is_recorded_completely_and_its_roles_add_up(tmp_path):
    finished = run("lightning_fit.py", tmp_path)
    told = finished.printed()
    report = assert_complete(finished, told)
    assert role(report, "parameter") == told["parameters"]
    assert role(report, "gradient") == told["parameters"]  # its closure clears them only before the next backward
    assert role(report, "optimizer_state") == 2 * told["parameters"]
    assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]


def test_card_too_small_for_activations_is_explained(tmp_path):
    report = assert_explained(run("lightning_fit.py", tmp_path, card="700MiB", expect=1))
    assert report["request"]["role"] == "activation"
    assert report["request"]["site"].startswith("transformer.h.")
