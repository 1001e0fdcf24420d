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


def test_ranks_found_in_a_ring_of_attention_have_the_memory_of_all(tmp_path):
    whole = memory(run("context_parallel.py", tmp_path, "allgather", ranks="0-3", world=8))
    found = memory(run("context_parallel.py", tmp_path, "allgather", ranks="auto", world=8))
    assert found == {rank: whole[rank] for rank in (0, 1, 3)}
    assert set(whole.values()) == set(found.values())
    assert len(set(found.values())) == 3
