# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The second model of a Trainer's loss: it is elsewhere while the first is trained."""

import json
from pathlib import Path

from frameworks_under_test import needs_frameworks, run
from support.fit_changes import changed_places

pytestmark = needs_frameworks

SMALL = 1 << 20  # bytes of a model's tensors below 64 KiB, which stay


def train(folder: Path, change: str, card: str) -> tuple[int, list[int], int]:
    """Returns the bytes of the reference, the bytes on each card after training, and the places."""
    done = run("trainer_reference.py", folder, card=card, MEMTRACE_FIT_CHANGES=change)
    told = done.printed()
    return told["reference"], json.loads(told["held"]), changed_places(done.trace, change)


def test_reference_model_of_a_trainer_is_moved(tmp_path):
    size, (unchanged,), _ = train(tmp_path, "", "24GiB")
    _, (held,), places = train(tmp_path, "offload", "24GiB")
    assert places == 1 and 0 <= held - (unchanged - size) < SMALL
    _, (first, second), places = train(tmp_path, "second_card", "2x24GiB")
    assert places == 1 and abs(first - (unchanged - size)) < SMALL and second >= size
