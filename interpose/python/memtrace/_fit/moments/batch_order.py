# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The order in which the batches of an epoch are given: the largest until two steps were made, then the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")  # a batch, or what stands for one


class Length(NamedTuple):
    """How many batches an epoch has."""

    usual: int | None = None  # batches beside the largest and the last; None: all


def largest_first(
    batches: Sequence[T], chosen: Sequence[int], wants_again: Callable[[], bool], length: Length
) -> Iterator[tuple[T, int | None]]:
    """Yields each batch with its place in `chosen`; None: it is a usual one.

    The first of `chosen` is repeated as long as `wants_again()`, then come the others, then the usual ones in their own
    order. The last batch, which may be partial, stays last. There are never more batches than the epoch has.
    """
    left = len(batches)
    for kind, place in enumerate(chosen):
        while left > 0:
            left -= 1
            yield batches[place], kind
            if kind > 0 or not wants_again():
                break
    last = len(batches) - 1
    usual = [batch for place, batch in enumerate(batches) if place not in chosen and place != last]
    has_last = last not in chosen and left > 0
    count = max(left - has_last, 0)
    if length.usual is not None:
        count = min(count, length.usual)
    for batch in usual[:count]:
        yield batch, None
    if has_last:
        yield batches[last], None


class Given(Generic[T]):
    """Passes batches on, and notes which were asked for, because workers read them later, in the same order."""

    def __init__(self, ordered: Iterator[tuple[T, int | None]]) -> None:
        """Starts before the first batch."""
        self._ordered = ordered
        self.asked: list[int | None] = []  # the place in `chosen` of each batch

    def __iter__(self) -> Given[T]:
        return self

    def __next__(self) -> T:
        batch, kind = next(self._ordered)
        self.asked.append(kind)
        return batch
