# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer: its memory equals torch's to the byte, its roles are known, its failure is explained."""

from frameworks_under_test import assert_complete, assert_explained, needs_frameworks, role, run

pytestmark = needs_frameworks


def test_fitting_run_is_recorded_completely_and_its_roles_add_up(tmp_path):
    finished = run("trainer.py", tmp_path)
    told = finished.printed()
    report = assert_complete(finished, told)
    assert role(report, "parameter") == told["parameters"]
    assert role(report, "optimizer_state") == told["states"] == 2 * told["parameters"]
    assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]


def test_quantized_states_of_bitsandbytes_are_optimizer_states(tmp_path):
    finished = run("trainer.py", tmp_path, "adamw_bnb_8bit")
    told = finished.printed()
    report = assert_complete(finished, told)
    assert role(report, "parameter") == told["parameters"]
    assert role(report, "optimizer_state") == told["states"]
    assert told["states"] < told["parameters"]  # half of AdamW's, although embeddings stay in 32 bits


def test_card_too_small_for_activations_is_explained(tmp_path):
    report = assert_explained(run("trainer.py", tmp_path, card="700MiB", expect=1))
    assert report["request"]["role"] == "activation"
    assert report["request"]["site"].startswith("transformer.h.")
