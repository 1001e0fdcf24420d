# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Follows what an evaluation keeps of each batch, for those of its batches that the shortened job leaves out."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import MOMENT_EVALUATION
from memtrace._fit.moments.job import Job
from memtrace._patching import patches

if TYPE_CHECKING:
    from torch.utils.data.dataloader import _BaseDataLoaderIter

_LEAST = 2  # rises that must be alike
_ALIKE = 0.1
_LEAST_BYTES = 1 << 10


class Predictions:
    """The bytes in use as each batch of an evaluation is asked for. Thread rule: the program's first thread."""

    def __init__(self, torch: ModuleType, job: Job) -> None:
        """Watches all loaders, and looks only within an evaluation."""
        self._torch = torch
        self._job = job
        self._of: Callable[[], object] = lambda: None  # returns the iterator that is followed, while it lives
        self._levels: list[int] = []
        self._watch(torch)

    def _watch(self, torch: ModuleType) -> None:
        iterator = torch.utils.data.dataloader._BaseDataLoaderIter
        original = iterator.__next__

        @functools.wraps(original)
        def next_batch(this: _BaseDataLoaderIter) -> object:
            if not self._job.rows.is_in(MOMENT_EVALUATION):
                return original(this)
            self._follow(this)
            try:
                return original(this)
            except StopIteration:
                self._note_rest(this)
                raise

        patches.put(
            iterator,
            "__next__",
            next_batch,
            "torch.utils.data.dataloader._BaseDataLoaderIter.__next__: follows what stays, in a trial of fit",
        )

    def _follow(self, iterator: _BaseDataLoaderIter) -> None:
        if iterator is not self._of():
            self._of, self._levels = weakref.ref(iterator), []
        self._levels.append(self._torch.cuda.memory_allocated() if self._torch.cuda.is_initialized() else 0)

    def _note_rest(self, iterator: _BaseDataLoaderIter) -> None:
        """Notes the batches that the data has and the loader did not give: the job has short loaders."""
        row = self._job.rows.open_row(MOMENT_EVALUATION)
        given = len(self._levels) - 1
        try:
            of = len(iterator)
        except TypeError:  # the length of its data is not known
            return
        if row is not None and given < of:
            row.known.update(batches=given, of=of, growth=self._growth() * int(str(row.known.get("joined", 1))))

    def _growth(self) -> int:
        """Returns the bytes that stay after each batch; 0 if the last batches, of usual sizes, left other amounts."""
        rises = [after - before for before, after in zip(self._levels[1:], self._levels[2:], strict=False)]
        latest = rises[-_LEAST - 1 : -1] if len(rises) > _LEAST else rises  # the last batch may be partial
        if len(latest) < _LEAST or min(latest) < _LEAST_BYTES:
            return 0
        return max(latest) if max(latest) - min(latest) <= _ALIKE * max(latest) else 0
