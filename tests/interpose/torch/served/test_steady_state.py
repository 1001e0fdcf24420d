# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A training step with fixed shapes asks the driver for nothing after the first three."""

import pytest
from support.corpus import CORPUS, ROOT
from support.programs import on_card

COUNTED = ROOT / "tests/support/counted_steps.py"
SCENARIOS = CORPUS / "scenarios"
pytestmark = pytest.mark.skipif(not SCENARIOS.is_dir(), reason="no scenarios in MEMTRACE_CORPUS")


COMMANDS = (
    "gpt2.py --batch 2 --length 256 --steps 6",
    "case_a_mend.py --copy share --steps 6",
    "case_d_reward.py --opt fused --steps 6",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_fixed_step_maps_and_waits_for_nothing_after_the_third(tmp_path, command):
    script, *arguments = command.split()
    finished = on_card(COUNTED, tmp_path, str(SCENARIOS / script), *arguments, card="80GiB")
    steps = finished.printed()
    assert len(steps) == 6
    assert steps[0] > 0
    assert steps[3:] == [0, 0, 0]
