# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The allocator's free memory goes to another library that asks the driver for it."""

from pathlib import Path

import pytest
from support.programs import GIB, on_card

LIBRARY = Path(__file__).with_name("starving_library.py")
FUNCTIONS = {"alloc", "alloc_async", "alloc_from_pool", "create"}
OUT_OF_MEMORY = 2


@pytest.mark.parametrize("options", [("--events", "lazy"), pytest.param(("--no-trace",), marks=pytest.mark.slow)])
def test_another_library_gets_what_torch_has_cached(options, tmp_path):
    done = on_card(LIBRARY, tmp_path, options=options, output="--no-trace" not in options)
    told = done.printed()
    assert set(told) == FUNCTIONS
    for result, before, after in told.values():
        assert result == 0
        assert before >= 23 * GIB
        assert 18 * GIB < after < 20 * GIB  # no more than the request and a little
    assert "fault" not in done.err
    if "--no-trace" not in options:
        (moved,) = done.report()["moved"]
        assert moved["kind"] == "gave_way"
        assert moved["bytes"] == sum(before - after for _, before, after in told.values())


@pytest.mark.slow
def test_torchs_own_allocator_lets_it_starve(tmp_path):
    told = on_card(LIBRARY, tmp_path, options=("--allocator", "native")).printed()
    assert {result for result, _, _ in told.values()} == {OUT_OF_MEMORY}
