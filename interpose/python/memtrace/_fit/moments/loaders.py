# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets a program's DataLoaders give their largest batches first (docs/design/whole-job.md, "Worst batch")."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import FIT_BATCHES, MOMENT_EVALUATION, MOMENT_LARGEST_BATCH
from memtrace._fit import gaps
from memtrace._fit.moments import batch_words
from memtrace._fit.moments.batch_order import Length, largest_first
from memtrace._fit.moments.drained import drain
from memtrace._fit.moments.epoch import Epoch, Uses
from memtrace._fit.moments.kept_sizes import KeptSizes
from memtrace._fit.moments.loader_record import LoaderRecord
from memtrace._fit.moments.measured import MeasuredItems
from memtrace._fit.moments.read_ahead import ReadAhead
from memtrace._fit.moments.rows import Rows
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session
from memtrace._program.users_frames import innermost_users_frame
from memtrace._text.say import say

if TYPE_CHECKING:
    from torch.utils.data import DataLoader
    from torch.utils.data.dataloader import _BaseDataLoaderIter

_MODULE = "torch.utils.data.dataloader"
# torchdata's iterators pass their calls on to the class of torch.
_MODULES = (_MODULE, "torchdata.stateful_dataloader.stateful_dataloader")
_CONTINUED = "continued"
_USUAL_SECONDS = 10
_BESIDE = 3  # batches of a short epoch beside the largest and the last
_WHOLE_EVALUATION = 64  # batches
_MOST_LOADERS = 50  # that the fact has; some frameworks make one for each evaluation


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
        self._rows: Rows | None = None  # of the shortened job
        self._kept = KeptSizes()
        self._uses = Uses(session)
        self._records: list[LoaderRecord] = []
        self._of_loader: weakref.WeakKeyDictionary[object, LoaderRecord] = weakref.WeakKeyDictionary()
        self._of_dataset: dict[int, tuple[weakref.ref[object], MeasuredItems]] = {}
        session.before_close.append(self.annotate)

    @property
    def uses(self) -> Uses:
        """Which batches the steps used."""
        return self._uses

    def shorten(self, rows: Rows) -> None:
        """Lets loaders have a few batches only, so that the program comes to its end soon (`fit --whole-job`).

        An epoch has the largest batch until two steps were made, three others, and the last; a later epoch the largest
        and the last. Loaders of an evaluation stay whole if they have at most 64 batches. The steps of the largest
        batch are noted in `rows`.
        """
        self._rows = rows

    def length_of(self, record: LoaderRecord, batches: int | None) -> Length:
        """Returns how many batches an epoch that begins now shall have, if its data have so many."""
        if self._rows is None:
            return Length()
        if self._rows.is_in(MOMENT_EVALUATION):
            return Length() if batches is not None and batches <= _WHOLE_EVALUATION else Length(_BESIDE)
        return Length(0 if record.has_two_steps else _BESIDE)

    def is_pending(self) -> bool:
        """True if a chosen batch of a loader that trains is still to come."""
        return self._is_reordered and any(
            record.trains and not record.has_ended and len(record.steps) < len(record.chosen)
            for record in self._records
        )

    def patch(self, module: ModuleType) -> None:
        """Replaces the methods of the class that all iterators of DataLoaders share."""
        of = module._BaseDataLoaderIter
        begin, reset, following = of.__init__, of._reset, of.__next__

        @functools.wraps(begin)
        def init(this: _BaseDataLoaderIter, loader: DataLoader[object]) -> None:
            begin(this, loader)
            self._begin_epoch(this, loader, following)

        @functools.wraps(reset)
        def reset_between(this: _BaseDataLoaderIter, loader: DataLoader[object], first_iter: bool = False) -> None:
            reset(this, loader, first_iter)
            self._begin_epoch(this, loader, following)

        @functools.wraps(following)
        def following_batch(this: _BaseDataLoaderIter) -> object:
            epoch: Epoch | None = getattr(this, "_memtrace_epoch", None)
            if epoch is None:
                return following(this)
            try:
                batch = following(this) if epoch.stream is None else epoch.next_of_stream()
            except StopIteration:
                epoch.ended()
                raise
            epoch.given(batch)
            return batch

        for name, replacement in (("__init__", init), ("_reset", reset_between), ("__next__", following_batch)):
            patches.put(
                of,
                name,
                replacement,
                "torch.utils.data.DataLoader.*: gives the largest batches first, in a trial of fit",
            )

    def annotate(self) -> None:
        """Writes the fact `fit.batches`, and names the gap of a largest batch that was not seen."""
        try:
            self._annotate()
        except Exception as error:  # the other facts of the trial must be written
            raise_if_from_outside(error)
            say(f"The batches of the trial could not be written ({type(error).__name__}: {error}).")

    def _annotate(self) -> None:
        given = [record for record in self._records if record.given > 0][:_MOST_LOADERS]
        trains = any(record.trains for record in given)
        facts = [batch_words.as_fact(record, is_said=record.trains or not trains) for record in given]
        self._session.core.annotate(FIT_BATCHES, json.dumps(facts, ensure_ascii=False, separators=(",", ":")))
        found = [gap for record in self._records if (gap := batch_words.gap(record, self._is_reordered))]
        if found:
            gaps.name_gap(MOMENT_LARGEST_BATCH, *found[0])
        elif trains:
            gaps.close_gap(MOMENT_LARGEST_BATCH)
        for record in given:
            if self._rows is not None and 0 in record.steps and (record.trains or not trains):
                self._rows.of_steps(MOMENT_LARGEST_BATCH, *record.steps[0])

    def _begin_epoch(
        self,
        iterator: _BaseDataLoaderIter,
        loader: DataLoader[object],
        following: Callable[[_BaseDataLoaderIter], object],
    ) -> None:
        """Replaces the iterator over the sampler's indices, or what `following` reads of an iterable data set."""
        if os.getpid() != self._process:
            return
        record = self._record_of(loader)
        epoch = Epoch(self._uses, record, _prefetched(loader))
        iterator._memtrace_epoch = epoch
        if why_not := _why_not_followed(iterator, loader):
            if not record.steps:
                record.why_not = why_not
            epoch.is_short = why_not == _CONTINUED  # it lacks the batches before
            return
        if iterator._dataset_kind == sys.modules[_MODULE]._DatasetKind.Map:
            iterator._sampler_iter = epoch.follow(self._ordered(loader, epoch, iterator._sampler_iter))
            return
        kept = weakref.ref(iterator)  # which must die as without us: its workers end with it
        stream = ReadAhead(self._torch, lambda: following(kept()), self._seconds)
        if epoch.is_first:
            record.begin(stream)
        length = self.length_of(record, None)
        epoch.is_short = length.beside is not None
        epoch.stream = stream.batches(self._is_reordered, epoch.wants_again, length)

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
        self._kept.load(dataset, items)
        with contextlib.suppress(TypeError):  # a list
            self._of_dataset[id(dataset)] = (weakref.ref(dataset), items)
        return items

    def _ordered(
        self, loader: DataLoader[object], epoch: Epoch, indices: Iterator[object]
    ) -> Iterator[tuple[object, int | None]]:
        """Yields the indices of each batch, once the first is asked for, so that all draws come in their order."""
        batches, is_end = drain(self._torch, indices)
        if epoch.is_first:
            epoch.record.begin(None)
        places = self._places(loader, epoch.record, batches)
        length = self.length_of(epoch.record, len(batches) if is_end else None)
        epoch.is_short = length.beside is not None
        del loader  # which may hold the iterator that holds this
        if self._is_reordered:
            yield from largest_first(batches, places, epoch.wants_again, length)
        else:
            for place, batch in enumerate(batches):
                yield batch, places.index(place) if place in places else None
        if not is_end and length.beside is None:
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


def _why_not_followed(iterator: _BaseDataLoaderIter, loader: DataLoader[object]) -> str:
    """Says why the batches of this pass cannot be reordered; "" if they can."""
    if type(iterator).__module__ not in _MODULES:
        return "iterator"
    # torchdata's loader continues within an epoch, and its iterator passes over batches while it is made.
    return "" if getattr(loader, "next_iter_state", None) is None else _CONTINUED


def _prefetched(loader: DataLoader[object]) -> int:
    return int(loader.num_workers) * int(loader.prefetch_factor or 0)


def _users_line() -> str:
    """Returns the user's line that iterates the loader: "train.py:9"; "" if there is none."""
    frame = innermost_users_frame(sys._getframe(1))
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
