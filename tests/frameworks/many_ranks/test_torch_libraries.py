# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch's own ways of distributing a model: a few real ranks take the memory that they take if all ranks are real."""

import pytest
from compared_jobs import assert_same_memory, memory, run
from frameworks_under_test import needs_frameworks

pytestmark = needs_frameworks


@pytest.mark.parametrize(
    ("program", "arguments", "ranks"),
    [
        ("fsdp2.py", (), "0,3"),
        ("fsdp1.py", (), "0,3"),
        ("tensor_parallel.py", (), "0,3"),
        ("pipeline.py", ("gpipe",), "0,2"),
        ("pipeline.py", ("1f1b",), "0,2"),
        ("pipeline.py", ("interleaved",), "0,2"),
        ("pipeline.py", ("zero_bubble",), "1,3"),
        ("pipeline.py", ("zbv",), "0,2"),
        ("expert_parallel.py", ("balanced",), "0,3"),
        ("expert_parallel.py", ("worst",), "0,3"),
        ("context_parallel.py", ("allgather",), "0,3"),
        ("context_parallel.py", ("alltoall",), "0,3"),
        ("symmetric.py", (), "0,3"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value) or "plain",
)
def test_real_ranks_take_the_same_memory(tmp_path, program, arguments, ranks):
    assert_same_memory(program, tmp_path, *arguments, ranks=ranks)


@pytest.mark.parametrize(("result", "is_even"), [("balanced", True), ("0", False)])
def test_experts_that_an_unknown_router_chooses_are_those_of_the_policy(tmp_path, result, is_even):
    policy = tmp_path / "routing.policy"
    policy.write_text(f"aten::topk result {result}\n")
    options = ("--host-values", str(policy))
    whole = assert_same_memory("expert_parallel.py", tmp_path, "routed", ranks="0,3", options=options)
    first, last = whole[0][0], whole[3][0]
    assert (first == last) == is_even
    assert first >= last


def test_fsdp2_runs_with_one_of_512_ranks(tmp_path):
    ((rank, figures),) = memory(run("fsdp2.py", tmp_path, ranks="0", world=512)).items()
    assert rank == 0
    assert figures[0] > 0
