# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Any driver call of a training fails, once or from then on: the right exception, nothing lost, and the next one works."""

from pathlib import Path

import pytest
from support.programs import on_card

PROGRAM = Path(__file__).with_name("failing_calls.py")
# Full enough that memory is taken back from other streams and requests fail.
CARD = "192MiB,context=64MiB"


@pytest.mark.parametrize("error", ["1", "2", "4", "700", "999"])
@pytest.mark.parametrize("how_often", ["once", "for-ever"])
def test_every_failing_driver_call_of_a_training(error, how_often, tmp_path):
    done = on_card(PROGRAM, tmp_path, error, how_often, card=CARD).printed()
    assert done["problems"] == []
    # The training is what it is meant to be: it makes all these calls, and fails by many of them.
    assert {"cuMemAddressReserve", "cuMemAddressFree", "cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuMemUnmap"} | {
        "cuMemRelease",
        "cuMemGetInfo",
        "cuEventRecord",
        "cuEventQuery",
        "cuEventSynchronize",
        "cuCtxSynchronize",
    } <= set(done["functions"])
    assert done["cases"] >= done["calls"] > 100
    print(done)
