# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a test of each row, which records it in a folder of its own and judges it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import case_run
import pytest
from case_row import Row, faults
from support.programs import BUILD

RESULTS = BUILD / "tests" / "cases" / "results"


def judged(rows: list[Row]) -> Callable[..., None]:
    """Returns a test that runs for each row; memtrace's output is kept below the build folder."""

    @pytest.mark.skipif(not case_run.CASES.is_dir(), reason="no cases in MEMTRACE_CORPUS")
    @pytest.mark.parametrize("row", rows, ids=lambda row: row.name)
    def test(row: Row) -> None:
        if row.frameworks and not case_run.FRAMEWORKS.exists():
            pytest.skip("no .venv-frameworks; setup/setup.sh frameworks makes it")
        folder: Path = RESULTS / row.name
        shutil.rmtree(folder, ignore_errors=True)
        case_run.record(row, folder)
        case_run.forget_traces(folder)
        found = faults(row, case_run.seen(folder))
        assert not found, "\n".join([f"right: {row.right}", *found, f"run alone: {case_run.command_line(row)}"])

    return test
