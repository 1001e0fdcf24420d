# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the ranks over which a model's parameters are sharded unevenly, and what each of them holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor, Placement
    from torch.nn import Module


def held_unevenly(model: Module) -> dict[tuple[int, ...], list[int]]:
    """Returns for each dimension of a device mesh over which parameters are sharded unevenly what each rank holds.

    The keys are the ranks of this process's group in that dimension, in its order; the values are the bytes of these
    parameters that each holds.
    """
    row_bytes: Counter[tuple[tuple[int, ...], int]] = Counter()  # by the ranks and the number of rows
    for parameter in model.parameters():
        if hasattr(parameter, "placements"):
            for ranks, rows, of_row in _uneven_dimensions(parameter):
                row_bytes[ranks, rows] += of_row
    held: dict[tuple[int, ...], list[int]] = {}
    for (ranks, rows), of_row in row_bytes.items():
        so_far = held.setdefault(ranks, [0] * len(ranks))
        for place, own in enumerate(_rows_of_parts(rows, len(ranks))):
            so_far[place] += own * of_row
    return held


def _uneven_dimensions(parameter: DTensor) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yields for each dimension of the mesh with uneven parts its ranks, the rows that they share, and a row's bytes.

    The bytes are those that the first rank holds of a row: other dimensions may cut it further.
    """
    mesh = parameter.device_mesh
    extents = list(parameter.shape)
    uneven = []
    for dimension, sharded in _in_order(parameter.placements):
        rows, parts = extents[sharded], mesh.size(dimension)
        extents[sharded] = -(-rows // parts)
        if rows % parts:
            uneven.append((dimension, rows, extents[sharded]))
    own_bytes = math.prod(extents) * parameter.element_size()
    for dimension, rows, own_rows in uneven:
        yield _ranks(mesh, dimension), rows, own_bytes // own_rows


def _in_order(placements: Iterable[Placement]) -> list[tuple[int, int]]:
    """Returns the mesh's dimensions that shard and what each shards, in the order in which torch cuts the tensor.

    It cuts from left to right, except for strided shards: FSDP's, which cut what tensor parallelism left.
    """
    sharding = [(at, placement) for at, placement in enumerate(placements) if hasattr(placement, "dim")]
    strided = [at for at, placement in sharding if hasattr(placement, "split_factor")]
    sharding.sort(key=lambda one: (one[0] in strided, -one[0] if one[0] in strided else one[0]))
    return [(at, placement.dim) for at, placement in sharding]


def _rows_of_parts(rows: int, parts: int) -> list[int]:
    """Returns the rows that each part gets, as torch.chunk cuts them."""
    largest = -(-rows // parts)
    return [max(0, min(largest, rows - largest * part)) for part in range(parts)]


def _ranks(mesh: DeviceMesh, dimension: int) -> tuple[int, ...]:
    """Returns the ranks of this process's group in that dimension."""
    from torch.distributed import get_process_group_ranks

    return tuple(get_process_group_ranks(mesh.get_group(dimension)))
