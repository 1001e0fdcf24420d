# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""One pass over a loader: which batches it gave, if a backward pass used them, and if the largest is wanted again."""

from __future__ import annotations

from collections.abc import Iterator

from memtrace._fit.moments.batch_order import Given
from memtrace._fit.moments.loader_record import LoaderRecord
from memtrace._process.session import Session

_STEPS = 2  # the second is the first in which optimizer states and activations live together
_WITHOUT_BACKWARD = 4  # batches that loops may read ahead before they use the first
_SURE = 2  # backward passes
_AHEAD = 1  # batches that frameworks' loops have beside the one in use


class Uses:
    """Knows which loaders' batches the backward passes used. Thread rule: the thread that iterates the loaders."""

    def __init__(self, session: Session) -> None:
        """Counts steps and backward passes from now on."""
        self._session = session
        self.steps = 0
        self.backwards = 0
        self.wanted_steps = _STEPS  # that have the largest batch
        self.is_extra_step = False  # the step is another moment's
        self.counted_from = 0  # step of the trace: those before an extra step do not count for the largest batch
        self._latest: Epoch | None = None  # the one that gave a batch last
        self._fresh: list[Epoch] = []  # those that gave a batch since the last backward pass
        session.after_step.append(self._step_ended)
        session.before_backward.append(self._backward_begins)

    @property
    def step_number(self) -> int:
        """The number of the step in the trace; 1 before the first."""
        return max(self._session.step_number, 1)

    def begin_extra_step(self) -> None:
        """Wants the largest batch in one step more, which another moment has for itself."""
        self.wanted_steps += 1
        self.is_extra_step = True

    def end_extra_step(self) -> None:
        """Ends that step."""
        self.is_extra_step = False
        self.counted_from = self.step_number

    def gave(self, epoch: Epoch) -> None:
        """Notes that the program got a batch."""
        self._latest = epoch
        if epoch not in self._fresh:
            self._fresh.append(epoch)

    def ended(self, epoch: Epoch) -> None:
        """Notes that a loader has no more batches. Backward passes after that are not of its batches."""
        if epoch in self._fresh and epoch is not self._latest:
            self._fresh.remove(epoch)

    def _step_ended(self, is_stated: bool) -> None:
        self.steps += 1

    def _backward_begins(self) -> None:
        """The loader that gave the last batch trains; one that gave the last but one does if it happens again."""
        self.backwards += 1
        for epoch in self._fresh:
            epoch.used(epoch is self._latest)
        self._fresh.clear()


class Epoch:
    """One pass over a loader."""

    def __init__(self, uses: Uses, record: LoaderRecord, prefetched: int) -> None:
        """`prefetched` batches are asked for before the program gets the first."""
        self.record = record
        self.is_first = not record.has_two_steps  # later ones repeat nothing, and are not told of
        self.is_short = False
        self.stream: Iterator[tuple[object, int | None]] | None = None  # of an iterable data set
        self._uses = uses
        self._steps = uses.steps
        self._backwards = 0  # that used its batches
        self._allowed = prefetched + _WITHOUT_BACKWARD
        self._kinds: list[int | None] = []  # of the batches asked for
        self._count = 0

    def follow(self, ordered: Iterator[tuple[object, int | None]]) -> Given[object]:
        """Returns the iterator over indices that the loader shall use."""
        return Given(ordered, self._kinds)

    def next_of_stream(self) -> object:
        """Returns the next batch of an iterable data set, or raises StopIteration."""
        batch, kind = next(self.stream or iter(()))
        self._kinds.append(kind)
        return batch

    def wants_again(self) -> bool:
        """True if the largest batch has to be given once more: states exist only after the first step."""
        asked = len(self._kinds)
        if not self.is_first:
            return False
        if asked < _STEPS:
            return True
        has_steps = self._uses.steps - self._steps >= self._uses.wanted_steps
        return not has_steps and (self._backwards > 0 or asked < self._allowed)

    def given(self, batch: object) -> None:
        """Notes that the program gets this batch."""
        self._count += 1
        self._uses.gave(self)
        self.note_steps()
        self.record.forget_steps_before(self._uses.counted_from)
        self.record.note_given(self._told_kind(self._count - 1), batch, self._uses.step_number)

    def _told_kind(self, place: int) -> int | None:
        """Returns the kind of the batch that was given at this place, if it is to be told."""
        is_told = self.is_first and not self._uses.is_extra_step
        return self._kinds[place] if is_told and place < len(self._kinds) else None

    def used(self, is_latest: bool) -> None:
        """Notes a backward pass after a batch of this pass."""
        # Loops ask for one batch ahead, or use several at once.
        place = max(self._backwards, self._count - 1 - _AHEAD)
        self._backwards += 1
        if is_latest or self._backwards >= _SURE:
            self.record.trains = True
            self.record.note_used(self._told_kind(place), self._uses.step_number)

    def ended(self) -> None:
        """Notes that the loader has no more batches. Some were left out if the largest was repeated."""
        self._uses.ended(self)
        self.note_steps()
        self.record.has_ended = True
        is_all = self._count > 0 and not self.is_short and self._kinds.count(0) <= 1
        self.record.is_complete = self.record.is_complete or is_all

    def note_steps(self) -> None:
        """Notes if two steps were made with the batches."""
        if self._backwards > 0 and self._uses.steps - self._steps >= self._uses.wanted_steps:
            self.record.has_two_steps = True
