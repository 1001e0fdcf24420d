# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the items of a data set: from what is known of it, else by reading them in a child, within a time."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memtrace._fit.moments.forked import in_child
from memtrace._fit.moments.known_sizes import known_sizes
from memtrace._fit.moments.sizes import Size, size_of

if TYPE_CHECKING:
    from torch.utils.data import DataLoader

_SECONDS_TOGETHER = 0.1  # sizes are sent together after this time
_MOST_FAILURES = 8  # after each other from the first on: the data set cannot be read
_LONGEST_REASON = 200  # characters
# Neighbours in a data set are alike, so a pass that ends early must have been everywhere: it takes each such step.
_GOLDEN = 0.6180339887


class MeasuredItems:
    """Sizes of the items of one data set, as far as they could be measured. Keeps them for later epochs."""

    def __init__(self, seconds: float) -> None:
        """`seconds` is the limit for all measuring of this data set."""
        self.sizes: dict[int, Size] = {}
        self.seconds = 0.0  # used so far
        self.why_not = ""  # the first error of an item, if none could be read
        self.changed = False  # new sizes since they were loaded
        self._limit = seconds
        self._shared: dict[Size, Size] = {}
        self._tried: set[int] = set()

    def measure(self, loader: DataLoader[object], numbers: Iterable[int]) -> None:
        """Measures those of these items that are not measured yet, until the time is over."""
        missing = [number for number in dict.fromkeys(numbers) if number not in self.sizes]
        if not missing:
            return
        begun = time.monotonic()
        if self.seconds == 0:
            known = _without_error(lambda: known_sizes(loader.dataset))
            if known is not None and not self._take_known(known, missing):
                known = None
            missing = [] if known is not None else missing
        missing = [number for number in missing if number not in self._tried]
        left = self._limit - self.seconds
        if missing and left > 0:
            self._read(loader, missing, left)
        self.seconds += time.monotonic() - begun

    def candidates(self, loader: DataLoader[object], batches: Sequence[object]) -> dict[int, Size]:
        """Collates some batches in a child. Returns the sizes of those that could be, by their place in `batches`."""
        found: dict[int, Size] = {}
        for made in in_child(lambda: _collated(loader, batches), max(self._limit, 1.0)):
            if isinstance(made, tuple):
                found[made[0]] = Size(*made[1])
        return found

    def add(self, number: int, size: Sequence[int]) -> None:
        """Notes the size of an item. Equal sizes share one object."""
        made = Size(*size)
        self.sizes[number] = self._shared.setdefault(made, made)

    def _take_known(self, known: Callable[[int], Size], numbers: Iterable[int]) -> bool:
        try:
            for number in numbers:
                self.add(number, known(number))
        except Exception:  # it is not what it seems: it has to be read
            return False
        return True

    def _read(self, loader: DataLoader[object], numbers: list[int], seconds: float) -> None:
        spread = _spread(numbers)
        for made in in_child(lambda: _read_items(loader, spread, seconds), seconds):
            if isinstance(made, str):
                self.why_not = self.why_not or made
            elif isinstance(made, list):
                for number, size in made:
                    self._tried.add(number)
                    if size is not None:
                        self.add(number, size)
                        self.changed = True


def _without_error(call: Callable[[], Callable[[int], Size] | None]) -> Callable[[int], Size] | None:
    with contextlib.suppress(Exception):  # a library's own object that is not as we know it
        return call()
    return None


def _spread(numbers: list[int]) -> list[int]:
    """Returns them in an order whose every beginning has been everywhere."""
    count = len(numbers)
    step = max(int(count * _GOLDEN), 1)
    while _divisor(step, count) > 1:
        step += 1
    return [numbers[place * step % count] for place in range(count)]


def _divisor(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def _as_a_worker(loader: DataLoader[object]) -> None:
    """Prepares the data set as a worker of the loader does, in the child."""
    torch = sys.modules["torch"]
    torch.set_num_threads(1)  # threads of OpenMP do not survive a fork
    if loader.num_workers > 0:
        worker = sys.modules["torch.utils.data._utils.worker"]
        worker._worker_info = worker.WorkerInfo(id=0, num_workers=1, seed=0, dataset=loader.dataset)
        if loader.worker_init_fn is not None:
            loader.worker_init_fn(0)


def _read_items(loader: DataLoader[object], numbers: list[int], seconds: float) -> Iterator[object]:
    """Yields lists of items' numbers with sizes (None: it cannot be read), and the first error as a sentence."""
    _as_a_worker(loader)
    dataset, has_read, failures = loader.dataset, False, 0
    now = time.monotonic()
    end, next_sending = now + seconds, now + _SECONDS_TOGETHER
    made: list[tuple[int, Size | None]] = []
    for number in numbers:
        try:
            made.append((number, size_of(dataset[number])))
            has_read = True
        except Exception as error:
            made.append((number, None))
            failures += 1
            if failures == 1:
                yield f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        now = time.monotonic()
        if now > end or (not has_read and failures >= _MOST_FAILURES):
            break
        if now > next_sending:
            yield made
            made, next_sending = [], now + _SECONDS_TOGETHER
    yield made


def _collated(loader: DataLoader[object], batches: Sequence[object]) -> Iterator[object]:
    _as_a_worker(loader)
    dataset, collate = loader.dataset, loader.collate_fn
    for place, batch in enumerate(batches):
        with contextlib.suppress(Exception):  # such as a collator that uses the card
            items = batch if isinstance(batch, (list, tuple)) else None
            if items is None:
                made = collate(dataset[batch])
            elif hasattr(dataset, "__getitems__") and dataset.__getitems__:
                made = collate(dataset.__getitems__(items))
            else:
                made = collate([dataset[number] for number in items])
            yield place, tuple(size_of(made))
