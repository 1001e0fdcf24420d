# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets a program's DataLoaders give their largest batches first (docs/design/whole-job.md, "Worst batch")."""

from __future__ import annotations

import functools
import json
import os
import sys
import weakref
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace import _patches
from memtrace._fit import gaps
from memtrace._fit.moments import batch_words
from memtrace._fit.moments.batch_order import Given, Length, largest_first
from memtrace._fit.moments.drained import drain
from memtrace._fit.moments.loader_record import LoaderRecord
from memtrace._fit.moments.measured import MeasuredItems
from memtrace._holders.users_frames import innermost_users_frame
from memtrace._import_watch import when_imported
from memtrace._session import Session
from memtrace._signal_exceptions import raise_if_from_outside
from memtrace._vocabulary import FIT_BATCHES, MOMENT_LARGEST_BATCH

if TYPE_CHECKING:
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import _BaseDataLoaderIter

_MODULE = "torch.utils.data.dataloader"
_EPOCH = "_memtrace_epoch"  # attribute of an iterator of a loader
_USUAL_SECONDS = 10
_STEPS = 2  # the second is the first in which optimizer states and activations live together
_WITHOUT_BACKWARD = 4  # batches that loops may read ahead before they use the first


def watch(torch: ModuleType, session: Session) -> Loaders:
    """Watches all loaders, as MEMTRACE_FIT_BATCH_ORDER and _MEASURE_TIME say."""
    loaders = Loaders(torch, session)
    when_imported(_MODULE, loaders.patch)
    return loaders


class Loaders:
    """The loaders of this process. Forked workers, and the child that measures, are left alone."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        """Counts steps and backward passes from now on."""
        self._torch = torch
        self._session = session
        self._process = os.getpid()
        self._is_reordered = os.environ.get("MEMTRACE_FIT_BATCH_ORDER") != "as-is"
        seconds = os.environ.get("MEMTRACE_FIT_MEASURE_TIME", "")
        self._seconds = int(seconds) if seconds.isdecimal() else _USUAL_SECONDS
        self._length = Length()
        self.steps = 0
        self.backwards = 0
        self._records: list[LoaderRecord] = []
        self._epochs: dict[LoaderRecord, Epoch] = {}  # the latest of each
        self._of_loader: weakref.WeakKeyDictionary[object, LoaderRecord] = weakref.WeakKeyDictionary()
        self._of_dataset: dict[int, tuple[weakref.ref[object], MeasuredItems]] = {}
        session.after_step.append(self._step_ended)
        session.before_backward.append(self._backward_begins)
        session.before_close.append(self.annotate)

    def shorten(self, usual: int) -> None:
        """Lets each later epoch have only `usual` batches beside the largest and the last."""
        self._length = Length(usual)

    def is_pending(self) -> bool:
        """True if a chosen batch of a loader that trains is still to come."""
        return self._is_reordered and any(
            record.trains and not record.is_complete and len(record.steps) < len(record.chosen)
            for record in self._records
        )

    def patch(self, module: ModuleType) -> None:
        """Replaces the methods of the class that all iterators of DataLoaders share."""
        of = module._BaseDataLoaderIter
        begin, reset, following = of.__init__, of._reset, of.__next__

        @functools.wraps(begin)
        def init(this: _BaseDataLoaderIter, loader: DataLoader[object]) -> None:
            begin(this, loader)
            self._begin_epoch(this, loader)

        @functools.wraps(reset)
        def reset_between(this: _BaseDataLoaderIter, loader: DataLoader[object], first_iter: bool = False) -> None:
            reset(this, loader, first_iter)
            self._begin_epoch(this, loader)

        @functools.wraps(following)
        def following_batch(this: _BaseDataLoaderIter) -> object:
            epoch: Epoch | None = getattr(this, _EPOCH, None)
            if epoch is None:
                return following(this)
            try:
                batch = following(this)
            except StopIteration:
                epoch.ended()
                raise
            epoch.given(batch)
            return batch

        why = "torch.utils.data.dataloader._BaseDataLoaderIter.__init__: gives the largest batches first, in a trial of fit"
        _patches.put(of, "__init__", init, why)
        _patches.put(of, "_reset", reset_between, why)
        _patches.put(of, "__next__", following_batch, why)

    def annotate(self) -> None:
        """Writes the fact `fit.batches`, and names the gap of a largest batch that was not seen."""
        for epoch in self._epochs.values():
            epoch.note_training()
        given = [record for record in self._records if record.given > 0]
        trains = any(record.trains for record in given)
        facts = [batch_words.as_fact(record, is_said=record.trains or not trains) for record in given]
        self._session.core.annotate(FIT_BATCHES, json.dumps(facts, ensure_ascii=False, separators=(",", ":")))
        found = [gap for record in self._records if (gap := batch_words.gap(record, self._is_reordered))]
        if found:
            gaps.name_gap(MOMENT_LARGEST_BATCH, *found[0])
        elif any(record.trains for record in self._records):
            gaps.close_gap(MOMENT_LARGEST_BATCH)

    def _step_ended(self, is_stated: bool) -> None:
        self.steps += 1

    def _backward_begins(self) -> None:
        self.backwards += 1

    def _begin_epoch(self, iterator: _BaseDataLoaderIter, loader: DataLoader[object]) -> None:
        """Replaces the iterator over the sampler's indices."""
        if os.getpid() != self._process or type(iterator).__module__ != _MODULE:
            return
        record = self._record_of(loader)
        if iterator._dataset_kind != sys.modules[_MODULE]._DatasetKind.Map:
            return
        epoch = self._epochs[record] = Epoch(self, record, _prefetched(loader))
        iterator._sampler_iter = epoch.follow(self._ordered(loader, epoch, iterator._sampler_iter))
        setattr(iterator, _EPOCH, epoch)

    def _record_of(self, loader: DataLoader[object]) -> LoaderRecord:
        record = self._of_loader.get(loader)
        if record is None:
            record = LoaderRecord(_users_line(), type(loader.dataset).__name__, self._items_of(loader.dataset))
            self._of_loader[loader] = record
            self._records.append(record)
        return record

    def _items_of(self, dataset: object) -> MeasuredItems:
        """Returns the sizes of a data set, which several loaders may share."""
        kept = self._of_dataset.get(id(dataset))
        if kept is not None and kept[0]() is dataset:
            return kept[1]
        items = MeasuredItems(self._seconds)
        try:
            self._of_dataset[id(dataset)] = (weakref.ref(dataset), items)
        except TypeError:  # a list
            pass
        return items

    def _ordered(
        self, loader: DataLoader[object], epoch: Epoch, indices: Iterator[object]
    ) -> Iterator[tuple[object, int | None]]:
        """Yields the indices of each batch, once the first is asked for, so that all draws come in their order."""
        batches, is_end = drain(self._torch, indices)
        places = self._places(loader, epoch.record, batches)
        if self._is_reordered:
            yield from largest_first(batches, places, epoch.wants_again, self._length)
        else:
            for place, batch in enumerate(batches):
                yield batch, places.index(place) if place in places else None
        if not is_end and self._length.usual is None:
            for batch in indices:
                yield batch, None

    def _places(self, loader: DataLoader[object], record: LoaderRecord, batches: Sequence[object]) -> list[int]:
        """Returns the places of the chosen batches; none if they cannot be found out."""
        try:
            return [each.place for each in record.choose(loader, batches)] if batches else []
        except Exception as error:  # the program must go on as without us
            raise_if_from_outside(error)
            record.why_not = f"{type(error).__name__}: {error}"
            return []


class Epoch:
    """One pass over a loader."""

    def __init__(self, loaders: Loaders, record: LoaderRecord, prefetched: int) -> None:
        """`prefetched` batches are asked for before the program gets the first."""
        self.record = record
        self._loaders = loaders
        self._steps = loaders.steps
        self._backwards = loaders.backwards
        self._allowed = prefetched + _WITHOUT_BACKWARD
        self._is_first = not record.has_two_steps
        self._indices: Given[object] | None = None
        self._count = 0

    def follow(self, ordered: Iterator[tuple[object, int | None]]) -> Given[object]:
        """Returns the iterator over indices that the loader shall use."""
        self._indices = Given(ordered)
        return self._indices

    def wants_again(self) -> bool:
        """True if the largest batch has to be given once more: states exist only after the first step."""
        asked = 0 if self._indices is None else len(self._indices.asked)
        if not self._is_first:
            return False
        if asked < _STEPS:
            return True
        has_begun = self._loaders.backwards > self._backwards
        return self._loaders.steps - self._steps < _STEPS and (has_begun or asked < self._allowed)

    def given(self, batch: object) -> None:
        """Notes that the program gets this batch."""
        asked = [] if self._indices is None else self._indices.asked
        kind = asked[self._count] if self._count < len(asked) else None
        self._count += 1
        self.note_training()
        self.record.note_given(kind, batch, max(self._loaders._session.step_number, 1))

    def ended(self) -> None:
        """Notes that the loader has no more batches."""
        self.note_training()
        self.record.is_complete = self.record.is_complete or self._count > 0

    def note_training(self) -> None:
        """Notes if a backward pass has used the batches."""
        if self._loaders.backwards > self._backwards:
            self.record.trains = True
            self.record.has_two_steps = self._loaders.steps - self._steps >= _STEPS


def _prefetched(loader: DataLoader[object]) -> int:
    return int(loader.num_workers) * int(loader.prefetch_factor or 0)


def _users_line() -> str:
    """Returns the user's line that iterates the loader: "train.py:9"; "" if there is none."""
    frame = innermost_users_frame(sys._getframe(1))
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
