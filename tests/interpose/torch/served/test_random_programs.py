# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs on a lazy card: no memory is removed while work that uses it is not done."""

from pathlib import Path

import pytest
from support.programs import on_card

PROGRAM = Path(__file__).with_name("random_program.py")
# The card is so full that memory moves between streams.
CARD = "512MiB,context=64MiB"


def run(folder, *arguments):
    return on_card(PROGRAM, folder, *arguments, card=CARD, options=("--events", "lazy")).printed()


# Threads take turns as the machine lets them, so how often a case occurs differs from run to run.
@pytest.mark.parametrize(
    ("seed", "instructions"), [("1", "3000"), *(pytest.param(seed, "6000", marks=pytest.mark.slow) for seed in "123")]
)
def test_memory_of_unfinished_work_is_not_reclaimed(tmp_path, seed, instructions):
    done = run(tmp_path, seed, instructions)
    assert done["faults"] == []
    # All cases occurred: sharing, shortage, memory that moved.
    assert min(done[case] for case in ("share", "out of memory", "retries", "unmapped")) > 5
    assert done["requested"] >= done["live"]


def test_program_without_record_stream_causes_faults(tmp_path):
    assert run(tmp_path, "1", "3000", "careless")["faults"] != []
