# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Full-scale models of people who ran out of memory: under torch's own allocator the figures are known."""

import re

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from support.corpus import CORPUS
from support.programs import on_card

SCENARIOS = CORPUS / "scenarios"
pytestmark = [
    needs_frameworks,
    pytest.mark.skipif(not SCENARIOS.is_dir(), reason="no scenarios in MEMTRACE_CORPUS"),
]

PEAK = re.compile(r" peak +([0-9.]+) ")


def run(tmp_path, command, card, allocator="native"):
    script, *arguments = command.split()
    return on_card(
        SCENARIOS / script,
        tmp_path,
        *arguments,
        card=card,
        options=("--allocator", allocator, "--host-values", "on"),
        python=PYTHON,
        seconds=500,
        HF_HUB_OFFLINE="1",
        PYTHONDONTWRITEBYTECODE="1",
    )


# GiB, from scenarios/README.md; case D also by hand: 5 x 13.2446 + 2 x 8.125 MiB = 66.239.
@pytest.mark.parametrize(
    ("command", "card", "peak"),
    [
        ("case_d_reward.py", "80GiB", "66.239"),
        ("case_d_reward.py --opt fused", "64GiB", "52.999"),
        ("case_d_reward.py --lora --seq 2048 --batch 4", "80GiB", "57.965"),
        ("case_e_resize.py --map auto", "4x23.68GiB,cc=8.6", "9.423"),
        ("case_e_resize.py --no-mean", "23.68GiB,cc=8.6", "15.852"),
    ],
)
def test_fitting_case_has_the_known_peak(tmp_path, command, card, peak):
    finished = run(tmp_path, command, card)
    assert max(PEAK.findall(finished.out), key=float) == peak, finished.out


@pytest.mark.parametrize(
    ("command", "card", "message", "place"),
    [
        ("case_d_reward.py", "64GiB", "Tried to allocate 112.00 MiB. GPU 0 has", "adam.py:791"),
        (
            "case_a_mend.py",
            "40GiB",
            "Tried to allocate 298.00 MiB. GPU 0 has a total capacity of 40.00 GiB of which 244.00 MiB is free",
            "functional.py:3413 kl_div",
        ),
        (
            "case_e_resize.py --others 3.36",
            "23.68GiB,cc=8.6",
            "Tried to allocate 2.03 GiB. GPU 0 has a total capacity of 23.68 GiB of which 1.82 GiB is free",
            "modeling_utils.py:3026",
        ),
    ],
)
def test_failing_case_fails_with_the_known_message_and_place(tmp_path, command, card, message, place):
    finished = run(tmp_path, command, card)
    failure = finished.out[finished.out.index("OOM: ") :]
    assert message in failure
    assert place in failure.splitlines()[1]


def test_fragmentation_fails_torchs_allocator_but_not_ours(tmp_path):
    """Case B4: LoRA with groups of two on 24 GiB; scenarios/README.md has torch's failure, in the second step."""
    command = "case_b_grpo.py --lora --group 2 --steps 3"
    native = run(tmp_path, command, "24GiB").out
    assert "step 1: OOM: CUDA out of memory. Tried to allocate 298.00 MiB" in native, native
    assert "step 2" not in native
    ours = run(tmp_path, command, "24GiB", allocator="memtrace").out
    assert "OOM" not in ours, ours
    assert "step 2 optimizer " in ours
