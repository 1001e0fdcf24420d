# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of 512 ranks, of which a few are real: torch's ways of distributing a model, and libraries for training."""

import json
from pathlib import Path

import pytest
from compared_jobs import memory, run, skip_without, titan_options
from frameworks_under_test import needs_frameworks
from support.events import annotations
from support.json_object import JsonObject
from support.programs import memtrace

pytestmark = needs_frameworks


@pytest.mark.parametrize(
    ("program", "arguments", "ranks"),
    [
        ("fsdp2.py", (), "0"),
        ("fsdp1.py", (), "0,256"),
        ("pipeline.py", ("gpipe",), "0,256"),
        ("pipeline.py", ("1f1b",), "0,256"),
        ("pipeline.py", ("interleaved",), "0,256"),
        ("pipeline.py", ("zero_bubble",), "0,256"),
        ("pipeline.py", ("zbv",), "0,256"),
    ],
)
def test_512_ranks_share_what_4_share_and_each_takes_less(tmp_path, program, arguments, ranks):
    few = memory(run(program, tmp_path, *arguments, ranks=ranks.replace("256", "2")))
    many = memory(run(program, tmp_path, *arguments, ranks=ranks, world=512))
    assert sorted(many) == [int(rank) for rank in ranks.split(",")]
    for rank, (peak, *_) in many.items():
        assert peak < few[rank // 128][0]


@pytest.mark.parametrize(
    ("program", "arguments", "ranks"),
    [
        ("tensor_parallel.py", (), "0,3"),
        ("expert_parallel.py", ("balanced",), "0,3"),
        ("context_parallel.py", ("allgather",), "0,1,3"),
        ("symmetric.py", (), "0,3"),
    ],
)
def test_groups_of_4_take_the_same_memory_in_a_job_of_512(tmp_path, program, arguments, ranks):
    few = memory(run(program, tmp_path, *arguments, ranks=ranks))
    many = memory(run(program, tmp_path, *arguments, ranks=ranks, world=512))
    # NCCL takes more for a communicator that spans machines.
    assert {rank: of[:2] for rank, of in many.items()} == {rank: of[:2] for rank, of in few.items()}


def test_tensors_of_fsdp1_are_labelled_in_a_job_of_512(tmp_path):
    finished = run("fsdp1.py", tmp_path, ranks="0", world=512)
    assert "could not be labelled" not in finished.err and "lacks some facts" not in finished.err
    roles = {row["name"]: row["bytes"] for row in _report(tmp_path, 0)["peak"]["by_role"]}
    assert roles["optimizer_state"] == 2 * roles["parameter"] > 0  # Adam's


@pytest.mark.parametrize(
    ("program", "arguments", "found"),
    [
        ("deepspeed_zero.py", ("1",), {0: 512}),
        ("deepspeed_zero.py", ("2",), {0: 512}),
        ("deepspeed_zero.py", ("3",), {0: 512}),
        ("deepspeed_pipeline.py", (), {0: 256, 256: 256}),
        ("megatron_gpt.py", ("2", "2"), {0: 256, 256: 256}),
        ("accelerate_fsdp.py", (), {0: 512}),
        ("trainer_fsdp.py", ("out",), {0: 512}),
        ("titan_train.py", (), {0: 512}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value) if isinstance(value, tuple) else "",
)
def test_library_runs_with_one_rank_of_each_kind_of_512(tmp_path, program, arguments, found):
    if program == "megatron_gpt.py":
        skip_without("megatron.core")
    if program == "titan_train.py":
        skip_without("torchtitan")
        arguments = titan_options(tmp_path)
    arguments = tuple(str(tmp_path / word) if word == "out" else word for word in arguments)
    few = memory(run(program, tmp_path, *arguments, ranks=",".join(str(rank // 128) for rank in found)))
    many = memory(run(program, tmp_path, *arguments, ranks="auto", world=512, seconds=500))
    assert {rank: _ranks_alike(tmp_path, rank) for rank in many} == found
    for rank, (peak, *_) in many.items():
        assert peak < few[rank // 128][0]


def _report(folder: Path, rank: int) -> JsonObject:
    """Returns the report of a real rank's trace."""
    return json.loads(memtrace("report", "--json", str(folder / f"run.rank-{rank}.trace")).out)


def _ranks_alike(folder: Path, rank: int) -> int:
    """Returns for how many ranks of the job a real one stands."""
    return int(annotations(folder / f"run.rank-{rank}.trace")["job.ranks_alike"])
