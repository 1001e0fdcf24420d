# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests `memtrace bench --gpu` with the simulated card's driver in the place of a GPU's."""

import ctypes
import json
from pathlib import Path
from typing import Any

import memtrace as memtrace_package
import pytest
from support.programs import MIB, memtrace
from test_bench import BUDDIES, library, row

DRIVER = next(Path(memtrace_package.__file__).parent.rglob("libcuda.so.1"))
DRIVERS_ALLOCATOR = BUDDIES.replace("cudaMalloc", "cuMemAlloc_v2")
WORDS = ("--gpu", "--workload", "hot-64MiB", "--allocator", "cudaMalloc", "--allocator", "policy")


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.fixture
def gpu() -> dict[str, str]:
    """Returns the environment of a machine whose driver has a GPU of 1 GiB."""
    return {"LD_LIBRARY_PATH": str(DRIVER.parent), "MEMTRACE_CARD": "1GiB,context=0MiB"}


def bench(*words: str, code: int = 0, **environment: str) -> dict[str, Any]:
    done = memtrace("bench", "--json", "--repeat", "0", *words, **environment)
    assert done.status == code, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_requests_are_served_by_the_driver_alone(gpu: dict[str, str], tmp_path: Path) -> None:
    found = bench(*WORDS, "--allocator", library(tmp_path, DRIVERS_ALLOCATOR), **gpu)
    assert found["gpu"].endswith(" (simulated)") and found["card"] is None
    table = found["tables"][0]
    for name in ("cudaMalloc", "libmine.so"):
        mine = row(table, name)
        assert mine["smallest_card"] == table["lower_bound"] == 128 * MIB
        assert mine["on_card"]["peak_reserved"] == 128 * MIB and mine["on_card"]["failures"] == 0
        assert mine["on_card"]["calls"] is mine["on_card"]["waits"] is mine["on_card"]["driver_calls"] is None
        assert mine["fault"] is None
    simulated = bench(*WORDS[1:])["tables"][0]
    assert row(table, "cudaMalloc")["reserved"] == row(simulated, "cudaMalloc")["reserved"]
    assert row(table, "policy")["on_card"]["calls"] is not None, "the books count their own"


def test_a_ballast_block_leaves_the_size_of_card(gpu: dict[str, str]) -> None:
    found = bench("--card", "100MiB", *WORDS, **gpu)
    table = found["tables"][0]
    driver = row(table, "cudaMalloc")
    assert found["card"] == 100 * MIB
    assert driver["on_card"]["failures"] > 0 and driver["on_card"]["peak_reserved"] == 64 * MIB
    assert driver["smallest_card"] == 128 * MIB


def test_a_card_larger_than_the_gpu_is_named(gpu: dict[str, str]) -> None:
    done = memtrace("bench", "--repeat", "0", "--card", "2GiB", *WORDS, **gpu)
    assert done.status == 4 and "less than 2147483648 bytes of it are free" in done.err


def test_the_table_says_what_a_gpu_does_not_tell(gpu: dict[str, str]) -> None:
    done = memtrace("bench", "--repeat", "1", *WORDS, **gpu)
    assert done.status == 0, done.err
    (driver,) = [line.split() for line in done.out.splitlines() if line.split()[:1] == ["cudaMalloc"]][:1]
    assert driver[4:6] == ["-", "-"]
    assert "all that was free of it" in " ".join(done.out.split())
    assert "NANOSECONDS A PAIR" in done.out


@pytest.mark.skipif(has_driver(), reason="this machine has a driver")
def test_without_a_driver_one_sentence_says_so() -> None:
    done = memtrace("bench", *WORDS)
    assert done.status == 5 and done.out == ""
    assert done.err.startswith(
        "memtrace: --gpu needs NVIDIA's driver (libcuda.so.1), which this machine does not have."
    )
    assert done.err.count("\n") == 1


def test_a_driver_without_a_gpu_is_named(gpu: dict[str, str]) -> None:
    done = memtrace("bench", *WORDS, **{**gpu, "CUDA_VISIBLE_DEVICES": ""})
    assert done.status == 5 and "--gpu needs a GPU, and the driver gives none" in done.err
