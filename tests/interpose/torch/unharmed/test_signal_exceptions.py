# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""An exception that the program's signal handler raises in our Python arrives in the program, wherever it strikes."""

from pathlib import Path

import pytest
from support.programs import on_card

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module", params=[("200", "53"), pytest.param(("1000", "13"), marks=pytest.mark.slow)])
def counts(tmp_path_factory, request):
    finished = on_card(FOLDER / "strikes.py", tmp_path_factory.mktemp("strikes"), *request.param, seconds=240)
    assert finished.status == 0, finished.err
    assert "could not" not in finished.err
    return finished.printed()


def test_exception_from_a_signal_reaches_the_program(counts):
    lost = {work: struck - arrived for work, (struck, arrived) in counts.items() if struck != arrived}
    assert lost == {}


def test_signals_hit_every_part(counts):
    assert min(struck for struck, _ in counts.values()) > 5
