# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/cases: each runs out of memory as the page says, and the cure that it names fits."""

import re

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from support.programs import ROOT, on_card

CASES = ROOT / "examples" / "cases"
pytestmark = needs_frameworks

PEAK = re.compile(r"  peak +([0-9.]+)  reserved")
SMALL = "23.68GiB,other=3.36GiB,cc=8.6"


def run(tmp_path, command, card, expect):
    script, *arguments = command.split()
    options = ("--allocator", "native")
    offline = {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return on_card(
        CASES / script, tmp_path, *arguments, card=card, options=options, python=PYTHON, expect=expect, **offline
    )


@pytest.mark.parametrize(
    ("command", "card", "asked", "function"),
    [
        ("mend_editing.py", "40GiB", "298.00 MiB", "kl_div"),
        ("grpo.py --lora --new 8", "24GiB", "40.00 MiB", "forward"),
        ("cogvideox_unlearning.py", "46.07GiB", "204.00 MiB", "apply_rotary_emb"),
        ("cogvideox_unlearning.py --checkpointing", "46.07GiB", "18.00 MiB", "_init_group"),
        ("reward_model.py", "64GiB", "112.00 MiB", "_multi_tensor_adam"),
        ("resize_embeddings.py", SMALL, "2.03 GiB", "_init_added_embeddings_weights_with_mean"),
    ],
)
def test_case_runs_out_where_documented(tmp_path, command, card, asked, function):
    finished = run(tmp_path, command, card, expect=1)
    assert f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}." in finished.err
    assert f", in {function}\n" in finished.err


# GiB: the largest of the cards' peaks.
@pytest.mark.parametrize(
    ("command", "card", "peak"),
    [
        ("mend_editing.py --copy share", "32GiB", "27.590"),
        ("grpo.py --lora --checkpointing --new 8", "24GiB", "15.925"),
        ("cogvideox_unlearning.py --checkpointing --optimizer fused", "80GiB", "54.669"),
        ("reward_model.py --optimizer fused", "64GiB", "52.999"),
        ("resize_embeddings.py --no-mean", SMALL, "15.852"),
        ("resize_embeddings.py --device-map auto", "4x23.68GiB,cc=8.6", "9.423"),
    ],
)
def test_remedy_of_a_case_fits(tmp_path, command, card, peak):
    finished = run(tmp_path, command, card, expect=0)
    assert max(PEAK.findall(finished.out), key=float) == peak, finished.out


def test_copy_of_the_model_has_its_owner(tmp_path):
    finished = run(tmp_path, "mend_editing.py", "40GiB", expect=1)
    by_owner = {row["name"]: row["bytes"] for row in finished.report()["peak"]["by_owner"]}
    assert 14.2 < by_owner["edited_model"] / 2**30 < 15.0
