# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps what is known of one DataLoader: its items' sizes, the batches chosen, and those that the program was given."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtrace._fit.moments.choice import Chosen, candidates, chosen, numbers_of
from memtrace._fit.moments.measured import MeasuredItems
from memtrace._fit.moments.read_ahead import ReadAhead
from memtrace._fit.moments.sizes import Size, size_of_batch

if TYPE_CHECKING:
    from torch.utils.data import DataLoader

_ENOUGH_READ = 64  # items, all over the data set, that say what the others are like
_CUT_SHARE = 0.05  # of the items have exactly the largest size: they were cut there


class LoaderRecord:
    """One loader of the program. Thread rule: the thread that iterates the loader."""

    def __init__(self, line: str, dataset: str, items: MeasuredItems) -> None:
        """`line` is the user's line that iterates it ("train.py:9"), or ""; `dataset` is a class."""
        self.line = line
        self.dataset = dataset
        self.items = items
        self.stream: ReadAhead | None = None  # the latest pass over an iterable data set
        self.trains = False  # a backward pass used its batches
        self._chosen: list[Chosen] = []
        self.possible: Size | None = None  # of the longest items together, if a shuffle can bring that
        self.steps: dict[int, tuple[int, int]] = {}  # first and last step of each chosen batch
        self.run_sizes: dict[int, Size] = {}  # the sizes that the chosen batches had in the run
        self.given = 0  # batches
        self.wanted: set[int] = set()  # numbers of items in the first epoch
        self.largest_given = Size()
        self.is_complete = False  # a whole epoch was given
        self.has_ended = False  # a pass came to its end, with or without all batches
        self.has_two_steps = False  # two steps were made, the first of them with the largest batch
        self.why_not = ""  # why nothing could be chosen

    @property
    def chosen(self) -> list[Chosen]:
        """The batches that are given first: each is the largest of its kind."""
        return self._chosen if self.stream is None else self.stream.chosen

    def begin(self, stream: ReadAhead | None) -> None:
        """Begins a pass that is told of: no two steps were made in an earlier one, which may have been a look."""
        self.stream = stream
        self._chosen = []
        self.steps.clear()
        self.run_sizes.clear()

    def choose(self, loader: DataLoader[object], batches: Sequence[object]) -> list[Chosen]:
        """Measures the items of these batches, and returns the batches that are the largest of their kinds."""
        numbers = [numbers_of(batch) for batch in batches]
        known = [each for each in numbers if each is not None]
        if len(known) < len(numbers):
            self.why_not = "sampler"
            return []
        self.wanted.update(itertools.chain.from_iterable(known))
        self.items.measure(loader, itertools.chain.from_iterable(known))
        among = candidates(known, self.items.sizes)
        together = _longest_together(loader, known, self.items.sizes) if among else []
        tried = [batches[each.place] for each in among] + ([together] if together else [])
        collated = self.items.candidates(loader, tried) if among else {}
        possible = collated.pop(len(among), None)
        found = chosen(among, collated, self.items.sizes)
        if not self._chosen:
            self._chosen = found
            is_larger = possible is not None and found and possible.bytes > found[0].size.bytes
            self.possible = possible if is_larger else None
        return found

    def note_given(self, kind: int | None, batch: object, step: int) -> None:
        """Notes a batch that the program was given. `kind` is its place in `chosen`; None: a usual one."""
        self.given += 1
        size = size_of_batch(batch)
        if size.bytes > self.largest_given.bytes:
            self.largest_given = size
        if kind is None:
            return
        first, last = self.steps.get(kind, (step, step))
        self.steps[kind] = (first, max(last, step))
        self.run_sizes.setdefault(kind, size)

    def note_used(self, kind: int | None, step: int) -> None:
        """Notes the step of a batch's backward pass, which comes later if the loop asks ahead or generates first."""
        if kind in self.steps:
            first, last = self.steps[kind]
            self.steps[kind] = (first, max(last, step))

    def forget_steps_before(self, step: int) -> None:
        """Forgets in which steps before this one the chosen batches were given."""
        self.steps = {kind: steps for kind, steps in self.steps.items() if steps[0] >= step}

    @property
    def is_measured(self) -> bool:
        """True if the sizes of all items are known, or those that were read tell the others'."""
        if self.stream is not None:
            return self.stream.is_whole or (len(self.stream.sizes) >= _ENOUGH_READ and _is_cut(self.stream.sizes))
        sizes = self.items.sizes
        read = sum(number in sizes for number in self.wanted)
        if read == len(self.wanted):
            return read > 0
        return read >= _ENOUGH_READ and _is_cut(sizes.values())

    def counts_read(self) -> tuple[int, int]:
        """Returns the number of items whose size is known, and of all."""
        return sum(number in self.items.sizes for number in self.wanted), len(self.wanted)


def _is_cut(sizes: Iterable[Size]) -> bool:
    """True if many items have exactly the largest size, so that none is beyond it."""
    count = Counter((size.longest, size.pixels, size.bytes) for size in sizes)
    for kind in range(3):
        most = max(key[kind] for key in count)
        if sum(times for key, times in count.items() if key[kind] == most) < _CUT_SHARE * sum(count.values()):
            return False
    return True


def _longest_together(
    loader: DataLoader[object], batches: Sequence[Sequence[int]], sizes: dict[int, Size]
) -> list[int]:
    """Returns the longest items, as many as a batch has, if another shuffle can bring them together; else []."""
    sampler = getattr(loader, "sampler", None)
    shuffles = "Random" in type(sampler).__name__ or bool(getattr(sampler, "shuffle", False))
    count = max(map(len, batches))
    if not shuffles or count < 2:
        return []
    known = {number for batch in batches for number in batch if number in sizes}
    return sorted(known, key=lambda number: (-sizes[number].longest, -sizes[number].bytes, number))[:count]
