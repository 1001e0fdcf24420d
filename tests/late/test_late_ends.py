# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Late programs run out at their line, long after they began. Their relatives complete."""

from pathlib import Path

import pytest
from late_programs import ROWS, Late, skip_without_frameworks
from support.programs import Finished, on_card

FIRST_STEPS = 20  # as many run without a failure
NATIVE = ("--allocator", "native")


def run(late: Late, folder: Path, monkeypatch: pytest.MonkeyPatch, *how: str, status: int) -> Finished:
    """Runs the program on its card, in `folder`. One that resumes is run before to save its checkpoint."""
    skip_without_frameworks(late)
    monkeypatch.chdir(folder)
    resume = []
    if late.resumes:
        on_card(late.script, folder, card=late.card, options=NATIVE)
        resume = ["--resume", "late_resume.pt"]
    return on_card(
        late.script, folder, *resume, *how, card=late.card, options=NATIVE, python=late.python, expect=status
    )


@pytest.mark.parametrize("late", ROWS, ids=lambda late: late.name)
def test_program_runs_out_late_at_its_line(late, tmp_path, monkeypatch):
    report = run(late, tmp_path, monkeypatch, status=1).report()
    assert f"at {late.line}" in report["verdict"]["sentence"]
    assert late.resumes or report["request"]["at"]["step"] > FIRST_STEPS


@pytest.mark.parametrize("late", ROWS, ids=lambda late: late.name)
def test_mended_program_completes(late, tmp_path, monkeypatch):
    assert run(late, tmp_path, monkeypatch, "--mended", status=0).report()["request"] is None
