# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a library's program with all ranks real, and again with a few: each real rank must take the same memory."""

import subprocess
from pathlib import Path

import pytest
from frameworks_under_test import PYTHON
from support.jobs import by_rank, run_job
from support.programs import ROOT, Finished

PROGRAMS = Path(__file__).with_name("programs")
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "OMP_NUM_THREADS": "1"}
WORLD = 4
MEMORY = ("peak", "reserved", "used")


def run(program: str, folder: Path, *arguments: str, ranks: str, world: int = WORLD, **options: object) -> Finished:
    """Runs ranks of a job on machines with 4 cards of 24 GiB."""
    options = {"seconds": 300, **OFFLINE, **options}
    return run_job(
        PROGRAMS / program,
        folder,
        *arguments,
        world=world,
        ranks=ranks,
        cards=4,
        card="24GiB",
        python=PYTHON,
        **options,
    )


def memory(finished: Finished) -> dict[int, tuple[int, ...]]:
    """Returns the most allocated, the most reserved, and the used bytes of each rank."""
    return {rank: tuple(told[name] for name in MEMORY) for rank, told in by_rank(finished).items()}


def assert_same_memory(
    program: str, folder: Path, *arguments: str, ranks: str, options: tuple[str, ...] = ()
) -> dict[int, tuple[int, ...]]:
    """Fails if a real rank of `ranks` takes another byte than with all ranks real; returns the memory of all."""
    whole = memory(run(program, folder, *arguments, ranks=f"0-{WORLD - 1}", options=options))
    some = memory(run(program, folder, *arguments, ranks=ranks, options=options))
    assert sorted(some) == [int(rank) for rank in ranks.split(",")]
    assert some == {rank: whole[rank] for rank in some}
    return whole


def skip_without(package: str) -> None:
    """Skips the test if the environment does not have the package."""
    if subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True, timeout=120, check=False).returncode:
        pytest.skip(f"{PYTHON.parents[1].name} has no {package}")


def titan_options(folder: Path, **more: object) -> tuple[str, ...]:
    """Writes a tokenizer and texts, and returns torchtitan's options for its smallest model, Llama 3 if not said."""
    (folder / "titan").mkdir()
    maker = ROOT / "examples" / "many_cards" / "make_data.py"
    subprocess.run([PYTHON, maker, folder / "titan"], timeout=120, check=True)
    options = {
        "job.dump_folder": folder / "out",
        "model.name": "llama3",
        "model.flavor": "debugmodel",
        "model.hf_assets_path": folder / "titan" / "tokenizer",
        "training.dataset": "c4_test",
        "training.dataset_path": folder / "titan" / "data",
        "training.steps": 3,
        "training.seq_len": 256,
        "training.local_batch_size": 2,
        "metrics.log_freq": 1,
    }
    options |= {name.replace("__", "."): value for name, value in more.items()}
    return tuple(f"--{name}={value}" for name, value in options.items())
