# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Launches with sleeping memory that torch's operators do not see are faults of the card, which names the owner."""

from pathlib import Path

import pytest
from support.programs import on_card

PROGRAM = Path(__file__).with_name("launches_while_asleep.py")
OWNER = "It is memory of 'policy', which is asleep: call memtrace.wake('policy') first"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return on_card(PROGRAM, tmp_path_factory.mktemp("asleep"))


def test_kernel_and_replayed_product_are_named_with_the_owner(done):
    kernel, product = done.printed()["asleep"]
    assert kernel.startswith("the kernel scale was launched with the address 0x")
    assert "if the kernel reads or writes there" in kernel
    assert product.startswith("cublas")
    assert " in a graph uses memory at 0x" in product
    assert kernel.endswith(OWNER)
    assert product.endswith(OWNER)


def test_before_the_sleep_and_after_the_wake_there_is_no_fault(done):
    told = done.printed()
    assert told["awake"] == []
    assert told["awake again"] == []


def test_the_report_has_the_faults(done):
    simulated = done.report()["simulated"]
    assert simulated["faults"] == 2
    assert all(fault.endswith(OWNER) for fault in simulated["first_faults"])


def test_replayed_kernel_of_triton_is_named(tmp_path):
    pytest.importorskip("triton", reason="Triton is not installed")
    told = on_card(PROGRAM, tmp_path, "triton").printed()
    assert told["awake"] == told["awake again"] == []
    _, replayed = told["asleep"]
    assert replayed.startswith("the kernel twice in a graph was launched with the address 0x")
    assert replayed.endswith(OWNER)
