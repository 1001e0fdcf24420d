# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the batches of an epoch that are the largest of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memtrace._fit.moments.sizes import Size

# Kinds, in the order in which their batches are run. "bytes" decides first: what the collator makes has padding.
LARGEST, LONGEST, ITEMS, PIXELS, FRAMES = "largest", "longest", "items", "pixels", "frames"
_KINDS: dict[str, Callable[[int, Size], int]] = {
    LARGEST: lambda items, size: size.bytes,
    LONGEST: lambda items, size: size.longest,
    ITEMS: lambda items, size: items,
    PIXELS: lambda items, size: size.pixels,
    FRAMES: lambda items, size: size.frames,
}
_PER_ESTIMATE = 2  # candidates of each


class Chosen(NamedTuple):
    """A batch that is the largest of its kind."""

    place: int  # in the epoch's own order
    kind: str
    items: int
    size: Size  # of the collated batch; estimated if it could not be collated
    longest_item: int | None  # the item that decides about its size


class Candidate(NamedTuple):
    """A batch that may be the largest of some kind."""

    place: int
    numbers: Sequence[int]
    estimated: Size


def numbers_of(batch: object) -> list[int] | None:
    """Returns the numbers of a batch's items, as a sampler gave them; None if they are something else."""
    items = batch if isinstance(batch, (list, tuple)) else [batch]
    if all(type(item) is int for item in items):
        return list(items)
    try:
        return [int(item.__index__()) for item in items]  # such as numpy's integers
    except (AttributeError, TypeError, ValueError):
        return None


def candidates(batches: Sequence[Sequence[int]], sizes: Mapping[int, Size]) -> list[Candidate]:
    """Returns the batches that may be the largest of a kind; none if all are alike, apart from smaller ones."""
    best: dict[str, list[tuple[int, int]]] = {}  # by estimate: value and place, the best first
    usual: dict[str, int] = {}  # the estimates of the first batch
    differs, last = False, len(batches) - 1
    for place, numbers in enumerate(batches):
        known = [sizes[number] for number in numbers if number in sizes]
        for name, value in _estimates(len(numbers), known).items():
            row = best.setdefault(name, [])
            usual_value = usual.setdefault(name, value)
            differs = differs or (value > usual_value if place == last else value != usual_value)
            if len(row) < _PER_ESTIMATE or value > row[-1][0]:
                row.append((value, place))
                row.sort(key=lambda pair: (-pair[0], pair[1]))
                del row[_PER_ESTIMATE:]
    if not differs:
        return []
    places = dict.fromkeys(place for row in best.values() for _, place in row)
    return [Candidate(place, batches[place], _estimated(batches[place], sizes)) for place in places]


def _estimates(items: int, known: Sequence[Size]) -> dict[str, int]:
    """Returns what a batch may cost, by what a collator may do: padding to the longest, or packing."""
    if not known:
        return {"items": items}
    tokens, longest, pixels, frames, of_bytes = (max(kind) for kind in zip(*known, strict=True))
    return {
        "padded": items * tokens,
        "longest": longest,
        "items": items,
        "pixels": items * pixels,
        "frames": items * frames,
        "padded bytes": items * of_bytes,
        "bytes": sum(size.bytes for size in known),
    }


def _estimated(numbers: Sequence[int], sizes: Mapping[int, Size]) -> Size:
    known = [sizes[number] for number in numbers if number in sizes]
    if not known:
        return Size()
    tokens, longest, pixels, frames, _ = (max(kind) for kind in zip(*known, strict=True))
    return Size(len(numbers) * tokens, longest, pixels, frames, len(numbers) * max(size.bytes for size in known))


def chosen(among: Sequence[Candidate], collated: Mapping[int, Size], sizes: Mapping[int, Size]) -> list[Chosen]:
    """Returns the largest batch, and for each other kind the one that is larger than that in its kind.

    `collated` has the sizes of those that a child could collate, by their place in `among`. They decide if there are
    any.
    """
    if not among:
        return []
    usable = [number for number in range(len(among)) if number in collated] or list(range(len(among)))
    size_of = [collated.get(number, among[number].estimated) for number in range(len(among))]
    found: list[Chosen] = []
    for kind, value in _KINDS.items():
        best = max(usable, key=lambda number: value(len(among[number].numbers), size_of[number]))
        most = value(len(among[best].numbers), size_of[best])
        if any(value(other.items, other.size) >= most for other in found):
            continue
        numbers = among[best].numbers
        found.append(Chosen(among[best].place, kind, len(numbers), size_of[best], _decisive(numbers, sizes)))
    return found


def _decisive(numbers: Sequence[int], sizes: Mapping[int, Size]) -> int | None:
    """Returns the item that is longest, or has most bytes if none has a length; None if all are equal."""
    known = [(number, sizes[number]) for number in numbers if number in sizes]
    if not known or (len(known) > 1 and len({size for _, size in known}) == 1):
        return None
    return max(known, key=lambda pair: (pair[1].longest, pair[1].pixels, pair[1].bytes))[0]
