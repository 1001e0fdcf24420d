# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Any driver call of a training fails: the exception is right, nothing is lost, and the next training works."""

from pathlib import Path

import pytest
from support.programs import memtrace, on_card
from test_planned import use_of

PROGRAM = Path(__file__).with_name("failing_calls.py")
# The card is so full that memory is taken back from other streams and requests fail.
CARD = "192MiB,context=64MiB"

MADE = {
    "cuMemAddressReserve",
    "cuMemAddressFree",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemMap",
    "cuMemSetAccess",
    "cuMemUnmap",
    "cuMemGetInfo",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuCtxSynchronize",
}


def check_every_failing_call(error, how_often, folder, *options):
    finished = on_card(PROGRAM, folder, error, how_often, card=CARD, options=options)
    done = finished.printed()
    print(done)
    assert done["problems"] == []
    assert done["more reservations"] <= 1
    # The training makes all these calls; each is a case, and more cases come from making events.
    assert set(done["functions"]) == MADE
    assert done["cases"] == done["calls"] + 3 > 200
    # Some failures must be survived, and some must be reported.
    ends = done["ends"]
    assert set(ends) - {"nothing"} and ends["nothing"] >= 3
    return finished


def check_every_failing_call_by_a_plan(error, how_often, folder):
    plan = folder / "run.plan"
    recorded = on_card(PROGRAM, folder, "record", card=CARD)
    assert memtrace("plan", str(recorded.trace), "-o", str(plan)).status == 0
    placed, elsewhere = use_of(check_every_failing_call(error, how_often, folder, "--plan", str(plan)))
    assert placed > 9 * elsewhere > 0


@pytest.mark.parametrize(
    ("error", "how_often"), [("2", "once"), pytest.param("999", "for-ever", marks=pytest.mark.slow)]
)
def test_every_failing_driver_call_of_a_training_is_handled(error, how_often, tmp_path):
    check_every_failing_call(error, how_often, tmp_path)
