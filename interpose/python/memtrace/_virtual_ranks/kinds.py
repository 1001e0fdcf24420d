# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the kinds of ranks of a job from rank 0's groups (docs/design/virtual-ranks.md, "Which ranks are real")."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtrace._hooks.job_groups import OwnGroup

# Names that libraries give to the groups of a pipeline are "pp" and "PIPELINE_MODEL_PARALLEL_GROUP". Those of a
# pipeline together with another dimension have words of that, too: "EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP".
_PIPELINE = {"pp", "pipe", "pipeline"}
_CONTEXT = {"cp", "context"}  # groups whose ranks share the length of each text
_OTHERS = {
    "tp",
    "tensor",
    "dp",
    "data",
    "fsdp",
    "shard",
    "replicate",
    "ep",
    "expert",
    "sp",
    "sequence",
}
_ENDS = {"embd", "embedding", "embeddings", "tied", "first", "last"}  # of groups that have only some of the stages
# Smaller differences do not make another kind of rank.
_LEAST_BYTES = 1 << 20


@dataclass(frozen=True)
class Kind:
    """A rank that stands for others."""

    rank: int
    alike: int  # ranks of the job that it stands for, itself included


@dataclass(frozen=True)
class _Dimension:
    """A direction in which ranks differ: the ones to run, as distances from rank 0, and for how many each stands."""

    ranks: frozenset[int]  # rank 0 and those that differ from it only in this direction
    offsets: tuple[int, ...]
    alike: tuple[int, ...]


def kinds_of(
    world: int, groups: Sequence[OwnGroup], peers: Iterable[int], held: Mapping[tuple[int, ...], Sequence[int]]
) -> list[Kind]:
    """Returns one rank of each kind, the most important first; rank 0 is always the first.

    `groups` are those of rank 0, and `peers` the ranks with which it exchanged data as stages of a pipeline do. `held`
    has the bytes that each rank of a group holds of the tensors that are sharded unevenly over it. The kinds stand for
    fewer ranks than the job has if its groups are not those of a grid, or if rank 0 has none.
    """
    if not groups:
        return [Kind(0, 1)]
    stages = [_each_rank(ranks) for ranks in _pipelines(world, groups, peers)]
    rings = [_ends_and_middle(group.ranks) for group in groups if is_context(group.name)]
    shards = [_by_bytes(ranks, of_ranks) for ranks, of_ranks in held.items() if ranks[0] == 0]
    dimensions = _independent([*stages, *rings, *sorted(shards, key=lambda shard: -len(shard.ranks))])
    others = max(1, world // math.prod(len(dimension.ranks) for dimension in dimensions))
    kinds = []
    for places in itertools.product(*(range(len(dimension.offsets)) for dimension in dimensions)):
        chosen = list(zip(dimensions, places, strict=True))
        is_in_a_stage_already = any(place > 0 for dimension, place in chosen if dimension not in stages)
        kinds.append((is_in_a_stage_already, _kind_at(chosen, others)))
    kinds.sort(key=lambda kind: (kind[0], kind[1].rank))
    return [kind for _, kind in kinds if kind.rank < world]


def stages_of(world: int, groups: Sequence[OwnGroup], peers: Iterable[int]) -> int:
    """Returns the number of stages of rank 0's pipeline; 1 without one."""
    return math.prod(len(ranks) for ranks in _pipelines(world, groups, peers))


def _kind_at(chosen: Sequence[tuple[_Dimension, int]], others: int) -> Kind:
    """Returns the kind at a place of each dimension; `others` ranks differ from it in no dimension."""
    rank = sum(dimension.offsets[place] for dimension, place in chosen)
    return Kind(rank, others * math.prod(dimension.alike[place] for dimension, place in chosen))


def _independent(dimensions: Iterable[_Dimension]) -> list[_Dimension]:
    """Returns the dimensions that have several kinds, without those whose ranks an earlier one has, too."""
    found: list[_Dimension] = []
    for dimension in dimensions:
        if len(dimension.offsets) > 1 and all(len(dimension.ranks & earlier.ranks) == 1 for earlier in found):
            found.append(dimension)
    return found


def _pipelines(world: int, groups: Sequence[OwnGroup], peers: Iterable[int]) -> list[tuple[int, ...]]:
    """Returns the ranks of rank 0's pipelines, ascending."""
    found = [frozenset(group.ranks) for group in groups if is_pipeline(group.name)]
    for peer in peers:
        if not any(peer in ranks for ranks in found):
            found.append(frozenset(_pipeline_with(world, groups, peer)))
    apart: list[frozenset[int]] = []
    for ranks in found:
        overlapping = [other for other in apart if len(other & ranks) > 1]
        apart = [other for other in apart if other not in overlapping] + [ranks.union(*overlapping)]
    return [tuple(sorted(ranks)) for ranks in apart]


def is_pipeline(name: str) -> bool:
    """True if a group of that name has one rank of each stage of a pipeline."""
    return _names_only(name, _PIPELINE, _CONTEXT)


def is_context(name: str) -> bool:
    """True if the ranks of a group of that name share the length of each text, as in ring attention."""
    return _names_only(name, _CONTEXT, _PIPELINE)


def _names_only(name: str, dimension: set[str], excluded: set[str]) -> bool:
    """True if a group's name has a word of the dimension, and none of another one."""
    words = set(re.split(r"[^a-z]+", name.lower()))
    return bool(words & dimension) and not words & (_OTHERS | _ENDS | excluded)


def _pipeline_with(world: int, groups: Sequence[OwnGroup], peer: int) -> tuple[int, ...]:
    """Returns the smallest group of three or more in which `peer` is the second stage or the last.

    Without one, returns the ranks at equal distances, up to the first that shares a group with rank 0 but not with
    `peer`. A group of two may be a link between stages, or that of the first and the last.
    """
    shared = [sorted(group.ranks) for group in groups if 2 < len(group.ranks) < world]
    ends = [tuple(ranks) for ranks in shared if peer in (ranks[1], ranks[-1])]
    if ends:
        return min(ends, key=len)
    of_other_directions = {rank for group in groups if peer not in group.ranks for rank in group.ranks} - {0}
    spaced = range(0, world, math.gcd(peer, world))
    stages = tuple(itertools.takewhile(lambda rank: rank not in of_other_directions, spaced))
    return stages if peer in stages else (0, peer)


def _each_rank(ranks: tuple[int, ...]) -> _Dimension:
    return _Dimension(frozenset(ranks), ranks, (1,) * len(ranks))


def _ends_and_middle(ranks: tuple[int, ...]) -> _Dimension:
    """Returns the first rank, one between, and the last: causal attention gives these different parts of a ring.

    torch's ring attention computes in each turn with half of the keys for ranks behind the sender, and with half of
    the queries for ranks before it. Ranks between the ends do both.
    """
    between = len(ranks) - 2
    if between < 1:
        return _each_rank(ranks)
    return _Dimension(frozenset(ranks), (ranks[0], ranks[1], ranks[-1]), (1, between, 1))


def _by_bytes(ranks: tuple[int, ...], held: Sequence[int]) -> _Dimension:
    """Returns the first of each run of ranks that hold about the same."""
    starts = [0]
    for place, of_rank in enumerate(held):
        if abs(of_rank - held[starts[-1]]) >= _LEAST_BYTES:
            starts.append(place)
    ends = [*starts[1:], len(ranks)]
    alike = tuple(end - start for start, end in zip(starts, ends, strict=True))
    return _Dimension(frozenset(ranks), tuple(ranks[start] for start in starts), alike)
