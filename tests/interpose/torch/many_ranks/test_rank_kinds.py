# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which ranks of a job differ (docs/design/virtual-ranks.md, "Which ranks are real")."""

from memtrace._hooks.job_groups import OwnGroup
from memtrace._virtual_ranks.kinds import Kind, kinds_of, stages_of

WORLD = OwnGroup("default_pg", tuple(range(512)))
PIPELINE = OwnGroup("pp", tuple(range(0, 512, 64)))
TENSOR = OwnGroup("tp", tuple(range(8)))
DATA = OwnGroup("dp_shard", tuple(range(0, 64, 8)))


def test_ranks_of_a_job_without_pipeline_are_alike():
    assert kinds_of(512, [WORLD, DATA, TENSOR], [], {}) == [Kind(0, 512)]


def test_each_stage_of_a_named_pipeline_is_a_kind():
    kinds = kinds_of(512, [WORLD, PIPELINE, DATA, TENSOR], [], {})
    assert kinds == [Kind(stage * 64, 64) for stage in range(8)]


def test_stages_of_a_pipeline_are_counted():
    assert stages_of(512, [WORLD, PIPELINE, DATA, TENSOR], []) == 8
    assert stages_of(512, [WORLD, DATA, TENSOR], []) == 1


def test_names_of_libraries_are_known():
    for name in ("pp", "pipeline", "PIPELINE_MODEL_PARALLEL_GROUP", "pipe_parallel", "decoder_pp"):
        assert len(kinds_of(512, [OwnGroup(name, PIPELINE.ranks)], [], {})) == 8, name
    for name in ("tp", "MODEL_PARALLEL_GROUP", "applied", "default_pg", "cpp_group", ""):
        assert len(kinds_of(512, [OwnGroup(name, PIPELINE.ranks)], [], {})) == 1, name


def test_groups_of_a_pipeline_with_another_dimension_are_no_stages():
    for name in ("EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP", "pp_tp", "pp_embd"):
        assert kinds_of(512, [WORLD, OwnGroup(name, TENSOR.ranks)], [], {}) == [Kind(0, 512)], name


def test_pipeline_without_a_name_is_the_group_in_which_stages_that_exchange_data_are_neighbours():
    unnamed = OwnGroup("", PIPELINE.ranks)
    whole_model = OwnGroup("", tuple(sorted({*PIPELINE.ranks, *TENSOR.ranks})))
    kinds = kinds_of(512, [WORLD, whole_model, unnamed, TENSOR], [64], {})
    assert [kind.rank for kind in kinds] == list(PIPELINE.ranks)


def test_last_stage_that_sends_to_the_first_does_not_hide_the_others():
    first_and_last = OwnGroup("", (0, 448))
    kinds = kinds_of(512, [WORLD, first_and_last, OwnGroup("", PIPELINE.ranks)], [448], {})
    assert [kind.rank for kind in kinds] == list(PIPELINE.ranks)
    assert [kind.rank for kind in kinds_of(4, [OwnGroup("", (0, 3))], [3], {})] == [0, 1, 2, 3]


def test_link_between_two_stages_is_no_pipeline():
    link = OwnGroup("", (0, 2))
    assert [kind.rank for kind in kinds_of(8, [link], [2], {})] == [0, 2, 4, 6]
    data = OwnGroup("", (0, 4))
    assert kinds_of(8, [link, data], [2], {}) == [Kind(0, 4), Kind(2, 4)]


def test_pipeline_without_a_group_has_stages_at_equal_distances():
    assert kinds_of(8, [OwnGroup("", tuple(range(8)))], [2], {}) == [Kind(rank, 2) for rank in (0, 2, 4, 6)]


def test_groups_that_overlap_are_one_pipeline():
    other = OwnGroup("pp", (0, 64, 100))
    ranks = [kind.rank for kind in kinds_of(512, [PIPELINE, other], [], {})]
    assert ranks == sorted({*PIPELINE.ranks, 100})


def test_stages_are_found_in_a_group_of_any_order():
    assert [kind.rank for kind in kinds_of(4, [OwnGroup("pp", (2, 0))], [], {})] == [0, 2]


def test_ranks_outside_a_grid_are_not_accounted_for():
    assert sum(kind.alike for kind in kinds_of(6, [OwnGroup("pp", (0, 1, 2, 3))], [], {})) == 4


def test_rank_without_groups_stands_for_itself():
    assert kinds_of(512, [], [], {}) == [Kind(0, 1)]


def test_ranks_that_hold_less_are_other_kinds_and_less_important():
    mebibytes = [4 << 20] * 6 + [2 << 20] + [0]
    kinds = kinds_of(512, [PIPELINE, TENSOR], [], {TENSOR.ranks: mebibytes})
    assert kinds[:8] == [Kind(stage * 64, 48) for stage in range(8)]
    assert kinds[8:10] == [Kind(6, 8), Kind(7, 8)]
    assert sum(kind.alike for kind in kinds) == 512


def test_ends_and_middle_of_a_ring_of_attention_are_kinds():
    ring = OwnGroup("cp", tuple(range(0, 32, 8)))
    assert kinds_of(64, [WORLD, ring], [], {}) == [Kind(0, 16), Kind(8, 32), Kind(24, 16)]
    assert kinds_of(64, [WORLD, OwnGroup("CONTEXT_PARALLEL_GROUP", (0, 1))], [], {}) == [Kind(0, 32), Kind(1, 32)]
    for name in ("dp_shard_cp", "TENSOR_AND_CONTEXT_PARALLEL_GROUP", "cp_pp"):
        assert kinds_of(64, [WORLD, OwnGroup(name, ring.ranks)], [], {}) == [Kind(0, 64)], name


def test_stages_come_before_other_places_in_a_ring():
    ring = OwnGroup("context", tuple(range(0, 32, 8)))
    kinds = kinds_of(512, [PIPELINE, ring, TENSOR], [], {})
    assert kinds[:8] == [Kind(stage * 64, 16) for stage in range(8)]
    assert kinds[8:10] == [Kind(8, 32), Kind(24, 16)]
    assert len(kinds) == 24


def test_small_differences_of_shards_make_no_kind():
    assert kinds_of(512, [WORLD], [], {TENSOR.ranks: [1 << 20] * 7 + [1]}) == [Kind(0, 512)]


def test_shards_over_ranks_of_a_larger_group_count_once():
    inner, whole = TENSOR.ranks, tuple(range(16))
    kinds = kinds_of(16, [WORLD], [], {inner: [1 << 21] * 7 + [0], whole: [1 << 21] * 15 + [0]})
    assert kinds == [Kind(0, 15), Kind(15, 1)]


def test_place_of_a_rank_in_its_groups_is_stated():
    assert PIPELINE.stated(128) == {"name": "pp", "size": 8, "at": 2, "first": 0, "stride": 64}
    assert OwnGroup("", (0, 1, 5)).stated(5) == {"name": "", "size": 3, "at": 2, "first": 0, "stride": 0}
