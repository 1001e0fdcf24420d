# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs test_failing_calls.py's program with errors that mostly take the same paths, waiting frees, and plans."""

import itertools

import pytest
from test_failing_calls import check_every_failing_call, check_every_failing_call_by_a_plan

OTHERS = [("2", "for-ever"), ("999", "once"), *itertools.product(["1", "4", "700"], ["once", "for-ever"])]


@pytest.mark.parametrize(("error", "how_often"), OTHERS)
def test_every_driver_call_failing_with_another_error_is_handled(error, how_often, tmp_path):
    check_every_failing_call(error, how_often, tmp_path)


@pytest.mark.parametrize("error", ["2", "999"])
@pytest.mark.parametrize("how_often", ["once", "for-ever"])
def test_every_failing_driver_call_on_a_lazy_card_is_handled(error, how_often, tmp_path):
    check_every_failing_call(error, how_often, tmp_path, "--events", "lazy")


@pytest.mark.parametrize(("error", "how_often"), itertools.product(["2", "999"], ["once", "for-ever"]))
def test_every_failing_driver_call_of_a_planned_training_is_handled(error, how_often, tmp_path):
    check_every_failing_call_by_a_plan(error, how_often, tmp_path)
