# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tells the program that a full card's memory moved to the host (docs/how-to/spill.md)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_int, c_int32, c_uint32, c_uint64, sizeof
from typing import NamedTuple

from memtrace._asleep.refusals import check_allocator
from memtrace._core.package import CORE_LIBRARY
from memtrace._start.off import is_off


class Pressure(NamedTuple):
    """Memory of a card that moved to the host because the card was full.

    Example:
        >>> import memtrace
        >>> memtrace.Pressure(card=0, moved_bytes=1 << 30, host_bytes=3 << 30)
        Pressure(card=0, moved_bytes=1073741824, host_bytes=3221225472)
    """

    card: int
    moved_bytes: int  # to the host in this step
    host_bytes: int  # of the card's memory on the host now


class _SpilledStruct(Structure):
    """`struct memtrace_spilled`."""

    _fields_ = (
        ("size", c_uint32),
        ("is_on", c_int32),
        ("limit", c_uint64),
        ("on_host", c_uint64),
        ("moved", c_uint64),
        ("came_back", c_uint64),
        ("times", c_uint64),
    )


class _Watch:
    """Looks at the end of each step which cards moved memory in it."""

    def __init__(self, callback: Callable[[Pressure], object]) -> None:
        library = ctypes.CDLL(str(CORE_LIBRARY))
        self._get = library.memtrace_get_spilled
        self._get.argtypes = (c_int, POINTER(_SpilledStruct))
        self._callback = callback
        self._moved: dict[int, int] = {}

    def step_ended(self) -> None:
        for card, state in enumerate(self._states()):
            moved = state.moved - self._moved.get(card, 0)
            self._moved[card] = state.moved
            if moved > 0:
                self._callback(Pressure(card, moved, state.on_host))

    def _states(self) -> list[_SpilledStruct]:
        states: list[_SpilledStruct] = []
        state = _SpilledStruct(size=sizeof(_SpilledStruct))
        while self._get(len(states), byref(state)) == 0:
            states.append(state)
            state = _SpilledStruct(size=sizeof(_SpilledStruct))
        return states


def on_pressure(callback: Callable[[Pressure], object]) -> None:
    """Calls `callback` at the end of each step in which a full card's memory moved to the host, so that it may save.

    Memory moves only with `memtrace run --spill SIZE` or `MEMTRACE_SPILL`; otherwise the callback is never called. An
    exception of the callback is raised where the step ends.

    Thread rule: any thread. The callback runs on the thread that ends the step, with no lock held.

    Args:
        callback: Is called with a `Pressure` for each card whose memory moved.

    Raises:
        RuntimeError: If memtrace's allocator does not serve the process.

    Example:
        >>> import memtrace, torch
        >>> memory = torch.ones(8, device="cuda")
        >>> memtrace.on_pressure(lambda pressure: print(pressure.moved_bytes))
    """
    if is_off():
        return
    check_allocator("on_pressure")
    from memtrace._process.session import current_session

    session = current_session()
    assert session is not None
    watch = _Watch(callback)
    session.after_step.append(lambda _stated: watch.step_ended())
