# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every public name of the package has an example in its docstring, and every example does what it shows."""

import json
import subprocess
import sys
from pathlib import Path

import memtrace
import memtrace.callbacks
import pytest
from support.programs import on_card

RUNNER = Path(__file__).with_name("run_examples.py")
# A program that gives itself a card and memtrace's allocator, in this order.
ALONE = ["simulated_card", "pluggable_library", "estimate", "check_fit", "Estimate", "DoesNotFit", "largest_batch"]
ALONE += ["callbacks.FitCallback", "callbacks.LightningFitCallback"]
# The first must come before the first use of CUDA.
UNDER_RUN = ["apply", "enable", "tag", "step", "release_failed_attempt", "sleep", "wake", "asleep", "Asleep", "Moved"]
UNDER_RUN += ["graphs_take_turns", "movable", "on_pressure", "Pressure", "release_host_memory", "as_torch_memory_saver"]
CALLED_BY_TRAINERS = ("on_train_begin", "on_train_start")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Runs all examples; returns their sources by the path of their object."""
    folder = tmp_path_factory.mktemp("examples")
    under_run = on_card(RUNNER, folder, *UNDER_RUN, card="2GiB")
    alone = subprocess.run(
        [sys.executable, str(RUNNER), *ALONE], cwd=folder, capture_output=True, text=True, timeout=400, check=False
    )
    assert alone.returncode == 0, alone.stderr
    found = {}
    for out, err in ((alone.stdout, alone.stderr), (under_run.out, under_run.err)):
        printed = json.loads(out.splitlines()[-1])
        assert printed["failures"] == 0, out + err
        found |= printed["sources"]
    return found


def test_every_public_name_has_an_example(sources: dict[str, str]) -> None:
    public = [*memtrace.__all__, *(f"callbacks.{name}" for name in memtrace.callbacks._MODULES)]
    assert [name for name in public if not sources.get(name)] == []


def test_every_public_method_is_in_an_example(sources: dict[str, str]) -> None:
    without = []
    for path, source in sources.items():
        owner, _, name = path.rpartition(".")
        is_method = owner in sources and name not in CALLED_BY_TRAINERS
        if is_method and not source and f".{name}" not in sources[owner]:
            without.append(path)
    assert without == []
