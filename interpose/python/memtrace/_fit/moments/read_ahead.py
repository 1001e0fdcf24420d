# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads batches of an iterable data set ahead into the host, and gives the largest of them first."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from memtrace._fit.moments.batch_order import Length, largest_first
from memtrace._fit.moments.choice import Candidate, Chosen, chosen
from memtrace._fit.moments.drained import random_state_kept
from memtrace._fit.moments.sizes import Size, is_on_card, size_of

_MOST_BATCHES = 64
_MOST_BYTES = 1 << 30  # of all batches that are read ahead


class ReadAhead:
    """The batches of one pass over an iterable data set."""

    def __init__(self, torch: ModuleType, read: Callable[[], object], seconds: float) -> None:
        """`read` gives the next batch or raises StopIteration."""
        self._torch = torch
        self._read = read
        self._seconds = seconds
        self.is_whole = False  # the data ended within what was read
        self.is_on_card = False
        self._error: Exception | None = None  # of the data, raised where the program would have met it
        self.sizes: list[Size] = []
        self.chosen: list[Chosen] = []

    def batches(
        self, is_reordered: bool, wants_again: Callable[[], bool], length: Length
    ) -> Iterator[tuple[object, int | None]]:
        """Yields the batches with their place in `chosen`: those read ahead, then the others as they come."""
        read = self._read_first() if is_reordered else []
        if len(read) > 1:
            self.chosen = _largest(self.sizes)
        if self.chosen:
            places = [each.place for each in self.chosen]
            for batch, kind in largest_first(read, places, wants_again, length):
                # The same batch is given several times, and programs take entries out of it.
                yield batch if kind is None else _copied(batch), kind
        else:
            while read:
                yield read.pop(0), None  # no name here may keep a batch alive, because it may be on a card
        if self._error is not None:
            raise self._error
        while not self.is_whole and length.beside is None:
            try:
                yield self._read(), None
            except StopIteration:
                self.is_whole = True

    def _read_first(self) -> list[object]:
        """Reads until a limit. The random state afterwards is that after the first batch, as without reading ahead."""
        read: list[object] = []
        try:
            self._add(self._read(), read)
        except StopIteration:
            self.is_whole = True
            return read
        if self.is_on_card:  # the others would take memory of the card that they do not take otherwise
            return read
        end = time.monotonic() + self._seconds
        with random_state_kept(self._torch):
            while len(read) < _MOST_BATCHES and sum(size.bytes for size in self.sizes) < _MOST_BYTES:
                if time.monotonic() > end:
                    break
                try:
                    self._add(self._read(), read)
                except StopIteration:
                    self.is_whole = True
                    break
                except Exception as error:
                    self._error = error
                    break
        return read

    def _add(self, batch: object, read: list[object]) -> None:
        read.append(batch)
        self.sizes.append(size_of(batch))
        self.is_on_card = self.is_on_card or is_on_card(batch)


def _largest(sizes: list[Size]) -> list[Chosen]:
    """Returns the largest batches by their bytes and other kinds; none if all are alike."""
    if len(set(sizes[:-1])) == 1 and sizes[-1].bytes <= sizes[0].bytes:
        return []
    among = [Candidate(place, [place], size) for place, size in enumerate(sizes)]
    found = chosen(among, dict(enumerate(sizes)), {})
    return [each._replace(items=each.size.sequences, longest_item=None) for each in found]


def _copied(value: Any) -> Any:
    """Returns a batch whose containers are new, with the same tensors."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_copied(part) for part in value))
    if type(value) in (list, tuple):
        return type(value)(_copied(part) for part in value)
    if type(value) is dict:
        return {key: _copied(part) for key, part in value.items()}
    return copy.copy(value) if isinstance(value, Mapping) else value
