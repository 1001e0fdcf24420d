# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
import re

import case_run
import pytest
from case_table import ELSEWHERE, all_rows
from support.programs import ROOT

README = case_run.CASES / "README.md"
needs_cases = pytest.mark.skipif(not README.exists(), reason="no cases in MEMTRACE_CORPUS")


def test_row_names_are_unique() -> None:
    names = [row.name for row in all_rows()]
    assert len(set(names)) == len(names)


def test_each_row_has_expectations() -> None:
    assert not [row.name for row in all_rows() if not row.expects or not row.right.endswith(".")]


def test_row_checked_elsewhere_names_an_existing_test_or_a_reason() -> None:
    for row in ELSEWHERE:
        assert bool(row.test) != bool(row.reason), row.script
        assert not row.test or (ROOT / row.test).exists(), f"{row.script}: {row.test}"


@needs_cases
def test_each_script_is_in_the_table() -> None:
    known = {row.script for row in [*all_rows(), *ELSEWHERE]}
    scripts = {path.name for path in case_run.CASES.iterdir() if path.suffix != ".md"}
    assert scripts - known == set()
    assert known - scripts - {"-"} == set()


@needs_cases
def test_each_script_named_in_the_readme_is_in_the_table() -> None:
    known = {row.script for row in [*all_rows(), *ELSEWHERE]}
    named = set(re.findall(r"`(\w+\.py)\b", README.read_text()))
    assert named - known == set()
