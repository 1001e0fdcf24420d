# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of `memtrace fit` about programs that run out late, and about their relatives that complete."""

import json
import shlex
from pathlib import Path

import pytest
from late_programs import ROWS, Late, skip_without_frameworks
from support.json_object import JsonObject
from support.programs import memtrace

DOES_NOT_FIT, FITS, NOT_KNOWN = 1, 0, 6
EACH = pytest.mark.parametrize("late", ROWS, ids=lambda late: late.name)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ask(late: Late, *options: str, mended: bool = False) -> tuple[int, JsonObject]:
    """Asks `fit`, which watches for 3 seconds instead of 20. Returns its exit code and its answer."""
    skip_without_frameworks(late)
    how = ["--mended"] if mended else []
    command = [str(late.python), str(late.script), *how]
    done = memtrace(
        *("fit", "--json", "--no-remedies", "--watch", "3", "--card", late.card, *options, "--", *command),
        seconds=600,
    )
    assert done.out, done.err
    return done.status, json.loads(done.out)


def whole_job(late: Late, mended: bool) -> list[str]:
    """Returns the options that a user of this program would give."""
    resume = [str(late.python), str(late.script), "--resume", "{checkpoint}", *(["--mended"] if mended else [])]
    resumed_by = ["--resumed-by", shlex.join(resume)] if late.resumes else []
    return ["--whole-job", *(["--also", late.also] if late.also else []), *resumed_by]


@EACH
def test_whole_job_finds_the_moment_and_the_line(late):
    status, answer = ask(late, *whole_job(late, mended=False))
    assert status == DOES_NOT_FIT, answer["verdict"]
    assert late.line in answer["first_failure"]["line"]
    failed = {moment["name"] for moment in answer["moments"] if moment["fits"] is False} or {"step"}
    assert failed & set(late.moments), answer["moments"]


@EACH
def test_whole_job_refuses_no_program_that_completes(late):
    status, answer = ask(late, *whole_job(late, mended=True), mended=True)
    assert status != DOES_NOT_FIT, (answer["verdict"], answer["first_failure"], answer["moments"])


@EACH
def test_without_the_option_fits_is_only_said_of_what_was_seen(late):
    status, answer = ask(late)
    if status == FITS:
        assert answer["verdict"] == "fits_in_the_steps_seen"
    else:
        assert status in (DOES_NOT_FIT, NOT_KNOWN)
