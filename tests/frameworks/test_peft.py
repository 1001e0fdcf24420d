# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""LoRA by peft, added to a model that has already run."""

from frameworks_under_test import assert_complete, assert_explained, needs_frameworks, role, run

pytestmark = needs_frameworks

WORKSPACE = (
    8519680  # bytes that torch gives cuBLAS below capability 9.0: one for the forward's thread, one for autograd's
)


def test_adapters_get_their_paths_and_only_they_have_states(tmp_path):
    finished = run("peft_lora.py", tmp_path)
    told = finished.printed()
    report = assert_complete(finished, told)
    assert role(report, "parameter") == told["parameters"]
    assert role(report, "optimizer_state") == told["states"] == 2 * told["trainable"]
    assert role(report, "unknown") < 0.01 * report["peak"]["bytes"]
    assert role(report, "workspace") >= 2 * WORKSPACE
    sites = [row["name"] for row in report["peak"]["by_site"]]
    assert {"base_model.model.transformer.h.*.attn", "cuBLAS workspace"} <= set(sites)
    assert not any(site.startswith("transformer.") for site in sites), sites  # the paths from before the adapters


def test_card_too_small_for_activations_is_explained(tmp_path):
    report = assert_explained(run("peft_lora.py", tmp_path, card="700MiB", expect=1))
    assert report["request"]["role"] == "activation"
    assert report["request"]["site"].startswith("base_model.model.")
