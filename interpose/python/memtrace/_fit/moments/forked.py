# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program's data code in a forked child without CUDA, so that its random state and files stay as they are."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import select
import signal
import struct
import time
from collections.abc import Callable, Iterable, Iterator

_LENGTH = struct.Struct("<q")
_READ = 1 << 20  # bytes
_GRACE = 1.0  # seconds that a child may take longer than its limit
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_STANDARD = (0, 1, 2)


def in_child(work: Callable[[], Iterable[object]], seconds: float) -> Iterator[object]:
    """Yields what `work` yields in a child, until it ends or the time is over. Errors of `work` end it silently.

    `work` may call the program's data set, and whatever that does to the process is gone with the child. The offsets of
    open files, which both share, are set back at the end. Yields nothing if the system makes no child.
    """
    offsets = _offsets()
    try:
        reader, writer = os.pipe()
        child = os.fork()
    except OSError:
        return
    if child == 0:
        _run_in_child(work, reader, writer)
    os.close(writer)
    try:
        yield from _received(reader, time.monotonic() + seconds + _GRACE)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # the program's own handler of SIGCHLD may have waited
            os.waitpid(child, 0)
        _set_back(offsets)


def _run_in_child(work: Callable[[], Iterable[object]], reader: int, writer: int) -> None:
    """Ends the process without exit handlers, whatever happens."""
    try:
        gc.disable()  # finalizers of the program's objects would remove files
        os.close(reader)
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in _STANDARD:
            os.dup2(nothing, stream)
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads do not survive a fork
        for made in work():
            packed = pickle.dumps(made, pickle.HIGHEST_PROTOCOL)
            _write(writer, _LENGTH.pack(len(packed)) + packed)
    finally:
        os._exit(0)


def _write(writer: int, packed: bytes) -> None:
    left = memoryview(packed)
    while left:
        left = left[os.write(writer, left) :]


def _received(reader: int, end: float) -> Iterator[object]:
    buffer = bytearray()
    while (left := end - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            return
        read = os.read(reader, _READ)
        if not read:
            return
        buffer += read
        while len(buffer) >= _LENGTH.size:
            length = _LENGTH.unpack_from(buffer)[0]
            if len(buffer) < _LENGTH.size + length:
                break
            yield pickle.loads(bytes(buffer[_LENGTH.size : _LENGTH.size + length]))
            del buffer[: _LENGTH.size + length]


def _offsets() -> dict[int, int]:
    """Returns the offset of each open file that has one."""
    offsets = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                offsets[int(name)] = os.lseek(int(name), 0, os.SEEK_CUR)
    return offsets


def _set_back(offsets: dict[int, int]) -> None:
    for descriptor, offset in offsets.items():
        with contextlib.suppress(OSError):
            if os.lseek(descriptor, 0, os.SEEK_CUR) != offset:
                os.lseek(descriptor, offset, os.SEEK_SET)
