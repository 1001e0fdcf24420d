# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Typed access by ctypes to `interpose/core/memtrace_sleep.h`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_uint32, c_uint64, c_void_p, sizeof
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

from memtrace._core.c_abi import core
from memtrace._core.package import CORE_LIBRARY

if TYPE_CHECKING:
    import torch


class Keep(IntEnum):
    """The contents that a sleep keeps."""

    HOST = 0
    NOTHING = 1


class Refusal(IntEnum):
    """The reason for which a call moved nothing."""

    NONE = 0
    UNKNOWN = 1
    ASLEEP = 2
    CAPTURE = 3
    SHARED = 4
    NO_ROOM = 5
    BY_DRIVER = 6


class MovedStruct(Structure):
    """`struct memtrace_moved`."""

    _fields_ = (
        ("size", c_uint32),
        ("refusal", c_int32),
        ("bytes", c_uint64),
        ("host_bytes", c_uint64),
        ("needed", c_uint64),
        ("available", c_uint64),
        ("shared_blocks", c_uint64),
        ("is_pinned", c_int32),
        ("has_graph", c_int32),
    )


class MovableStruct(Structure):
    """`struct memtrace_movable`."""

    _fields_ = (
        ("size", c_uint32),
        ("is_asleep", c_int32),
        ("keep", c_int32),
        ("on_card", c_uint64),
        ("asleep", c_uint64),
        ("host", c_uint64),
        ("name", c_char_p),
    )


_VISIT = ctypes.CFUNCTYPE(None, c_void_p, POINTER(MovableStruct))


class SleepCore:
    """The calls of the core. Sleep and wake wait for the card, without the interpreter's lock."""

    def __init__(self) -> None:
        self._core = core()
        library = ctypes.CDLL(str(CORE_LIBRARY))
        short = ctypes.PyDLL(str(CORE_LIBRARY))
        self._sleep, self._wake = library.memtrace_sleep, library.memtrace_wake
        self._sleep.argtypes = (c_uint32, c_int, POINTER(MovedStruct))
        self._wake.argtypes = (c_uint32, POINTER(MovedStruct))
        self._visit = library.memtrace_visit_movable
        self._visit.argtypes = (_VISIT, c_void_p)
        self._release = library.memtrace_release_host_memory
        self._release.argtypes, self._release.restype = (), c_uint64
        self._read = library.memtrace_read_asleep
        self._read.argtypes = (c_uint64, c_uint64, c_void_p)
        self._last_error = library.memtrace_last_error
        self._last_error.argtypes, self._last_error.restype = (), c_char_p
        self._push = short.memtrace_push_movable
        self._push.argtypes, self._push.restype = (c_uint32,), None
        self.pop: Callable[[], None] = short.memtrace_pop_movable
        short.memtrace_pop_movable.argtypes, short.memtrace_pop_movable.restype = (), None

    def push(self, name: str) -> None:
        """Begins a movable owner on this thread."""
        self._push(self._core.intern(name))

    def sleep(self, name: str, keep: Keep) -> MovedStruct:
        """Takes the owner's memory away."""
        moved = MovedStruct(size=sizeof(MovedStruct))
        return self._checked(moved, self._sleep(self._core.intern(name), int(keep), ctypes.byref(moved)))

    def wake(self, name: str) -> MovedStruct:
        """Brings it back."""
        moved = MovedStruct(size=sizeof(MovedStruct))
        return self._checked(moved, self._wake(self._core.intern(name), ctypes.byref(moved)))

    def _checked(self, moved: MovedStruct, status: int) -> MovedStruct:
        if status != 0 and moved.refusal == Refusal.NONE:
            moved.refusal = Refusal.BY_DRIVER
        return moved

    def last_error(self) -> str:
        """Returns the sentence of the last failure on this thread."""
        return bytes(self._last_error()).decode(errors="replace")

    def owners(self) -> dict[str, MovableStruct]:
        """Returns the movable owners by name."""
        found: dict[str, MovableStruct] = {}

        def note(_user: object, movable: ctypes._Pointer[MovableStruct]) -> None:
            one = movable.contents
            found[bytes(one.name).decode(errors="replace")] = MovableStruct.from_buffer_copy(one)

        self._visit(_VISIT(note), None)
        return found

    def copy_of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Returns the contents of a tensor that sleeps with a copy, on the host; None if it has none."""
        import torch

        storage = tensor.untyped_storage()
        copy = torch.UntypedStorage(storage.nbytes())
        if self._read(storage.data_ptr(), storage.nbytes(), copy.data_ptr()) != 0:
            return None
        whole = torch.empty(0, dtype=tensor.dtype)
        return whole.set_(copy, tensor.storage_offset(), tensor.size(), tensor.stride())

    def release_host_memory(self) -> int:
        """Returns how many bytes went back to the host."""
        return int(self._release())


@cache
def sleep_core() -> SleepCore:
    """Returns the only one of the process."""
    return SleepCore()
