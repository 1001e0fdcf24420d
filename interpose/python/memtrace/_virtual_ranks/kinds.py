# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the kinds of ranks of a job from the groups of rank 0 (docs/design/virtual-ranks.md, "Which ranks are real")."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memtrace._job_groups import OwnGroup

# Names that libraries give to the groups of a pipeline: "pp", "PIPELINE_MODEL_PARALLEL_GROUP".
_PIPELINE = re.compile(r"(?:^|[^a-z])(?:pp|pipe|pipeline)(?:$|[^a-z])")


@dataclass(frozen=True)
class Kind:
    """A rank that stands for others."""

    rank: int
    alike: int  # ranks of the job that it stands for, itself included


@dataclass(frozen=True)
class _Dimension:
    """A direction in which ranks differ: the ones to run, as distances from rank 0, and for how many each stands."""

    offsets: tuple[int, ...]
    alike: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(self.alike)


def kinds_of(
    world: int, groups: Sequence[OwnGroup], peers: Iterable[int], uneven: Iterable[tuple[int, ...]]
) -> list[Kind]:
    """Returns one rank of each kind, the most important first; rank 0 is always the first.

    `groups` are those of rank 0, `peers` the ranks with which it exchanged data outside of a forward pass, and `uneven`
    the ranks over which tensors are sharded so that the last rank has less than the first.
    """
    stages = [_each_rank(group) for group in _pipelines(world, groups, peers)]
    shards = [_first_and_last(ranks) for ranks in dict.fromkeys(uneven) if len(ranks) > 1 and ranks[0] == 0]
    dimensions = [*stages, *shards]
    others = max(1, world // _product(dimension.size for dimension in dimensions))
    kinds = []
    for places in itertools.product(*(range(len(dimension.offsets)) for dimension in dimensions)):
        chosen = list(zip(dimensions, places, strict=True))
        rank = sum(dimension.offsets[place] for dimension, place in chosen)
        alike = others * _product(dimension.alike[place] for dimension, place in chosen)
        is_last_shard = any(place > 0 for place in places[len(stages) :])
        kinds.append((is_last_shard, Kind(rank, alike)))
    kinds.sort(key=lambda kind: (kind[0], kind[1].rank))
    return [kind for _, kind in kinds if kind.rank < world]


def _pipelines(world: int, groups: Sequence[OwnGroup], peers: Iterable[int]) -> list[tuple[int, ...]]:
    """Returns the ranks of rank 0's pipelines, each once."""
    found = dict.fromkeys(group.ranks for group in groups if _PIPELINE.search(group.name.lower()) and len(group.ranks) > 1)
    for peer in peers:
        if not any(peer in ranks for ranks in found):
            found[_pipeline_with(world, groups, peer)] = None
    return [ranks for ranks in found if not any(set(other) < set(ranks) for other in found)]


def _pipeline_with(world: int, groups: Sequence[OwnGroup], peer: int) -> tuple[int, ...]:
    """Returns the smallest group that rank 0 shares with `peer`; without one, ranks at equal distances."""
    shared = [group.ranks for group in groups if peer in group.ranks and 0 in group.ranks and len(group.ranks) < world]
    if shared:
        return min(shared, key=len)
    return tuple(range(0, world, peer))


def _each_rank(ranks: tuple[int, ...]) -> _Dimension:
    return _Dimension(tuple(rank - ranks[0] for rank in ranks), (1,) * len(ranks))


def _first_and_last(ranks: tuple[int, ...]) -> _Dimension:
    return _Dimension((0, ranks[-1] - ranks[0]), (len(ranks) - 1, 1))


def _product(numbers: Iterable[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product
