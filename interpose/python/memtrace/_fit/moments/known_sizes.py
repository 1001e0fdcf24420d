# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of items that are known without reading the items: columns of Arrow, tensors, lists, and parts of these."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from memtrace._fit.moments.sizes import Size, size_of

_BYTES_OF_A_NUMBER = 8

SizeOf = Callable[[int], Size]


def known_sizes(dataset: object) -> SizeOf | None:
    """Returns a function from an item's number to its size; None if items have to be read for that."""
    if isinstance(dataset, (list, tuple)):
        return lambda number: size_of(dataset[number])
    data = sys.modules.get("torch.utils.data")
    if data is not None and isinstance(dataset, data.Subset):
        return _of_subset(dataset)
    if data is not None and isinstance(dataset, data.TensorDataset) and dataset.tensors:
        size = size_of([tensor[0] for tensor in dataset.tensors]) if len(dataset) else Size()
        return lambda number: size
    if type(dataset).__module__.partition(".")[0] == "datasets":
        return _of_arrow(dataset)
    return None


def _of_subset(subset: object) -> SizeOf | None:
    indices: Sequence[int] = subset.indices  # type: ignore[attr-defined]
    inner = known_sizes(subset.dataset)  # type: ignore[attr-defined]
    return None if inner is None else lambda number: inner(indices[number])


def _of_arrow(dataset: object) -> SizeOf | None:
    """Returns the sizes of rows whose columns hold only numbers, text, and lists of numbers."""
    table, format_of = getattr(dataset, "data", None), getattr(dataset, "format", None)
    if table is None or not isinstance(format_of, dict) or format_of.get("type") == "custom":
        return None  # a transform makes the items as they are read
    sizes = _of_columns(table, format_of.get("columns") or table.column_names)
    if sizes is None:
        return None
    selected = getattr(dataset, "_indices", None)
    rows = None if selected is None else selected.column(0).to_pylist()
    return sizes.__getitem__ if rows is None else lambda number: sizes[rows[number]]


def _of_columns(table: object, names: Sequence[str]) -> list[Size] | None:
    """Returns the size of each row; None if a column holds something else, such as an image."""
    arrow, compute = sys.modules["pyarrow"], __import__("pyarrow.compute").compute
    longest, bytes_of = [0] * len(table), [0] * len(table)  # type: ignore[arg-type]
    for name in names:
        column = table.column(name)  # type: ignore[attr-defined]
        kind = column.type
        if arrow.types.is_string(kind) or arrow.types.is_large_string(kind):
            lengths, width = compute.binary_length(column).to_pylist(), 1
        elif _is_list(arrow, kind) and arrow.types.is_primitive(kind.value_type):
            lengths, width = compute.list_value_length(column).to_pylist(), _BYTES_OF_A_NUMBER
            if arrow.types.is_integer(kind.value_type):
                longest = [max(pair) for pair in zip(longest, (length or 0 for length in lengths), strict=True)]
        elif arrow.types.is_primitive(kind):
            lengths, width = [1] * len(column), _BYTES_OF_A_NUMBER
        else:
            return None
        bytes_of = [sum_of + width * (length or 0) for sum_of, length in zip(bytes_of, lengths, strict=True)]
    made: dict[tuple[int, int], Size] = {}  # equal rows share one
    return [
        made.setdefault(pair, Size(tokens=pair[0], longest=pair[0], bytes=pair[1]))
        for pair in zip(longest, bytes_of, strict=True)
    ]


def _is_list(arrow: object, kind: object) -> bool:
    types = arrow.types  # type: ignore[attr-defined]
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))
