# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A diffusers UNet, convolutions included, forward and backward."""

from frameworks_under_test import assert_complete, assert_explained, needs_frameworks, role, run

pytestmark = needs_frameworks


def test_fitting_run_is_recorded_completely_and_its_roles_add_up(tmp_path):
    finished = run("diffusers_unet.py", tmp_path)
    told = finished.printed()
    report = assert_complete(finished, told)
    assert role(report, "parameter") == told["parameters"]
    assert role(report, "optimizer_state") == told["states"] == 2 * told["parameters"]
    assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]


def test_card_too_small_for_activations_is_explained(tmp_path):
    # The holes add up to more than the last small request, which alone is no fragmentation.
    report = assert_explained(run("diffusers_unet.py", tmp_path, card="560MiB", expect=1))
    assert "_blocks." in report["request"]["site"]
