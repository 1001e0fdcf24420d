# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds memory on cards that only the garbage collector would free, as the collector does, but leaves it as it is.

The references from other objects that the collector knows are subtracted from each object's count. An object with any
left is held from outside, and so are all that it refers to. The others are dead. No finalizer runs, and nothing is
freed.
"""

from __future__ import annotations

import gc
import itertools
import operator
import sys
import time
from collections import Counter
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import CYCLES_DEAD
from memtrace._holders.storages import Range, is_tensor, storages_of, text_of
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor

_MOST_SECONDS = 4.0  # of processor time, for one look
# A program may run out of memory many times: later looks take at most this share of its time.
_ALWAYS = 3
_SHARE = 0.02
_PIECE = 10_000  # objects, between two looks at the clock


class _TooLongError(Exception):
    pass


def watch(torch: ModuleType, session: Session) -> None:
    """Looks at the first out-of-memory errors, and at later ones unless the looks have taken too long."""
    session.at_failure.append(_DeadCycles(torch, session).look)


class _DeadCycles:
    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._began = time.monotonic()
        self._looks = 0
        self._spent = 0.0  # seconds of processor time

    def look(self) -> None:
        found: list[Range] = []
        if self._may_look() and _has_lock():
            self._looks += 1
            begin = time.thread_time()
            try:
                found = self._storages(begin + _MOST_SECONDS)
            finally:  # a signal handler may raise
                self._spent += time.thread_time() - begin
        self._session.core.annotate(CYCLES_DEAD, text_of(found))

    def _may_look(self) -> bool:
        return self._looks < _ALWAYS or self._spent < _SHARE * (time.monotonic() - self._began)

    def _storages(self, until: float) -> list[Range]:
        dead: list[Tensor] = []
        try:
            dead = self._confirmed_dead(until)
            return storages_of(self._torch, dead)
        except _TooLongError:
            return []  # the result is not known then
        finally:
            dead.clear()  # an exception of a signal handler keeps this frame alive

    def _confirmed_dead(self, until: float) -> list[Tensor]:
        """Looks twice if there are other threads, which may move references during the count."""
        if len(sys._current_frames()) == 1:
            return dead_tensors(self._torch, until)
        before = set(map(id, dead_tensors(self._torch, until)))
        return [each for each in dead_tensors(self._torch, until) if id(each) in before] if before else []


def _has_lock() -> bool:
    """True if only one thread runs at a time, which needs the interpreter's lock."""
    is_enabled = getattr(sys, "_is_gil_enabled", None)
    return is_enabled is None or is_enabled()


def dead_tensors(torch: ModuleType, until: float) -> list[Tensor]:
    """Lists the tensors that no reference from outside reaches. Raises _TooLongError at the thread's time `until`."""
    objects = gc.get_objects()
    unreached: dict[int, object] = {}
    try:
        alive = _split(objects, unreached, until)
        _remove_reached(unreached, alive, until)
        return [each for each in unreached.values() if is_tensor(torch, each)]
    finally:
        objects.clear()
        unreached.clear()


def _split(objects: list[object], unreached: dict[int, object], until: float) -> list[object]:
    """Lists objects with references from outside; puts the others into `unreached`, by id."""
    own = next(iter(map(sys.getrefcount, [[]])))  # references that a list and this call have
    counts = list(map(sys.getrefcount, objects))
    inner: Counter[int] = Counter()
    for begin in range(0, len(objects), _PIECE):
        _check(until)
        inner.update(map(id, _tracked_referents(objects[begin : begin + _PIECE])))
    keys = list(map(id, objects))
    outer = map(operator.sub, counts, map(inner.get, keys, itertools.repeat(0)))
    is_held = [count > own for count in outer]
    unreached.update(itertools.compress(zip(keys, objects, strict=True), map(operator.not_, is_held)))
    return list(itertools.compress(objects, is_held))


def _remove_reached(unreached: dict[int, object], alive: list[object], until: float) -> None:
    """Removes what can be reached from `alive`, which is empty afterwards."""
    try:
        while alive and unreached:
            _check(until)
            piece = alive[-_PIECE:]
            del alive[-_PIECE:]
            keys = unreached.keys() & set(map(id, _tracked_referents(piece)))
            alive.extend([unreached.pop(key) for key in keys])
    finally:
        alive.clear()


def _tracked_referents(objects: list[object]) -> list[object]:
    """Lists the referents that the collector tracks; others refer to nothing."""
    return list(filter(gc.is_tracked, gc.get_referents(*objects)))


def _check(until: float) -> None:
    if time.thread_time() > until:
        raise _TooLongError
