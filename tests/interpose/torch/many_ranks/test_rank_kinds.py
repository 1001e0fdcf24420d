# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which ranks of a job differ (docs/design/virtual-ranks.md, "Which ranks are real")."""

from memtrace._job_groups import OwnGroup
from memtrace._virtual_ranks.kinds import Kind, kinds_of

WORLD = OwnGroup("default_pg", tuple(range(512)))
PIPELINE = OwnGroup("pp", tuple(range(0, 512, 64)))
TENSOR = OwnGroup("tp", tuple(range(8)))
DATA = OwnGroup("dp_shard", tuple(range(0, 64, 8)))


def test_ranks_of_a_job_without_pipeline_are_alike():
    assert kinds_of(512, [WORLD, DATA, TENSOR], [], []) == [Kind(0, 512)]


def test_each_stage_of_a_named_pipeline_is_a_kind():
    kinds = kinds_of(512, [WORLD, PIPELINE, DATA, TENSOR], [], [])
    assert kinds == [Kind(stage * 64, 64) for stage in range(8)]


def test_names_of_libraries_are_known():
    for name in ("pp", "pipeline", "PIPELINE_MODEL_PARALLEL_GROUP", "pipe_parallel"):
        assert len(kinds_of(512, [OwnGroup(name, PIPELINE.ranks)], [], [])) == 8, name
    for name in ("tp", "MODEL_PARALLEL_GROUP", "applied", "default_pg", "cpp_group", ""):
        assert len(kinds_of(512, [OwnGroup(name, PIPELINE.ranks)], [], [])) == 1, name


def test_pipeline_without_a_name_is_the_smallest_group_of_those_that_exchange_data():
    unnamed = OwnGroup("", PIPELINE.ranks)
    whole_model = OwnGroup("", tuple(sorted({*PIPELINE.ranks, *TENSOR.ranks})))
    kinds = kinds_of(512, [WORLD, whole_model, unnamed, TENSOR], [64], [])
    assert [kind.rank for kind in kinds] == list(PIPELINE.ranks)


def test_pipeline_without_a_group_has_stages_at_equal_distances():
    assert kinds_of(8, [OwnGroup("", tuple(range(8)))], [2], []) == [Kind(rank, 2) for rank in (0, 2, 4, 6)]


def test_group_that_contains_a_pipeline_is_none():
    both = OwnGroup("pp_and_tp", tuple(sorted({*PIPELINE.ranks, *TENSOR.ranks})))
    assert len(kinds_of(512, [both, PIPELINE], [64], [])) == 8


def test_last_rank_of_uneven_shards_is_another_kind_and_less_important():
    kinds = kinds_of(512, [PIPELINE, TENSOR], [], [TENSOR.ranks, TENSOR.ranks])
    assert kinds[:8] == [Kind(stage * 64, 56) for stage in range(8)]
    assert kinds[8:] == [Kind(stage * 64 + 7, 8) for stage in range(8)]
    assert sum(kind.alike for kind in kinds) == 512


def test_place_of_a_rank_in_its_groups_is_stated():
    assert PIPELINE.stated(128) == {"name": "pp", "size": 8, "at": 2, "first": 0, "stride": 64}
    assert OwnGroup("", (0, 1, 5)).stated(5) == {"name": "", "size": 3, "at": 2, "first": 0, "stride": 0}
