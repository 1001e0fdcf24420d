# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the ranks over which a model's parameters are sharded so that the first rank holds more than the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.nn import Module

# Smaller differences do not make another kind of rank.
_LEAST_BYTES = 1 << 20


def uneven_shards(models: Iterable[Module]) -> list[tuple[int, ...]]:
    """Returns the ranks of each dimension of a device mesh over which the models' parameters are sharded unevenly."""
    more: Counter[tuple[int, ...]] = Counter()
    for parameter in _parameters(models):
        for ranks, difference in _differences(parameter):
            more[ranks] += difference
    return [ranks for ranks, difference in more.items() if difference >= _LEAST_BYTES]


def _parameters(models: Iterable[Module]) -> Iterator[Any]:
    seen: set[int] = set()
    for model in models:
        for parameter in model.parameters():
            if id(parameter) not in seen and hasattr(parameter, "placements"):
                seen.add(id(parameter))
                yield parameter


def _differences(parameter: Any) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yields for each dimension of the mesh its ranks, and the bytes that the first holds beyond the last."""
    mesh = parameter.device_mesh
    for dimension, placement in enumerate(parameter.placements):
        if not placement.is_shard():
            continue
        rows, parts = parameter.shape[placement.dim], mesh.size(dimension)
        largest = -(-rows // parts)
        smallest = max(0, rows - largest * (parts - 1))
        if smallest < largest:
            local = parameter.to_local()
            row_bytes = local.numel() // max(1, local.shape[placement.dim]) * local.element_size()
            yield _ranks(mesh, dimension), (largest - smallest) * row_bytes


def _ranks(mesh: Any, dimension: int) -> tuple[int, ...]:
    """Returns the ranks of this process's group in that dimension."""
    from torch.distributed import get_process_group_ranks

    return tuple(get_process_group_ranks(mesh.get_group(dimension)))
