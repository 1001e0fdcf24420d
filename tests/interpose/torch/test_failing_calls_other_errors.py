# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""As test_failing_calls.py, with errors that take mostly the same ways, and with frees that wait as they can."""

import pytest
from test_failing_calls import check_every_failing_call


@pytest.mark.parametrize("error", ["1", "4", "700"])
@pytest.mark.parametrize("how_often", ["once", "for-ever"])
def test_every_failing_driver_call_of_a_training_with_another_error(error, how_often, tmp_path):
    check_every_failing_call(error, how_often, tmp_path)


@pytest.mark.parametrize("error", ["2", "999"])
@pytest.mark.parametrize("how_often", ["once", "for-ever"])
def test_every_failing_driver_call_of_a_training_on_a_lazy_card(error, how_often, tmp_path):
    check_every_failing_call(error, how_often, tmp_path, "--events", "lazy")
