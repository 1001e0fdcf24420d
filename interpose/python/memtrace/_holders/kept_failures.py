# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of an earlier out-of-memory that still live: their tracebacks hold the failed attempt's memory."""

import gc
import os
import sys
import time
import types
from typing import Any, TypeGuard

from memtrace._core.vocabulary import FAILURE_KEPT
from memtrace._holders.named_values import is_a, named_values
from memtrace._holders.sole_references import freed_with
from memtrace._holders.storages import text_of
from memtrace._process.session import Session
from memtrace._program.users_frames import names_are_recorded

_LONGEST_CHAIN = 16
_MOST_OBJECTS = 20_000  # the most that are looked at in frames that have ended
_SECONDS = 0.2  # for one look at the program's variables
_MOST_SECONDS = 1.0  # for all looks: a program may run out of memory many times
# Attributes in which the interpreter keeps the exception of the latest notebook cell or prompt line.
_OF_INTERPRETER = ("last_exc", "last_value")


def watch(torch: types.ModuleType, session: Session) -> None:
    """Looks at every out-of-memory except the first."""
    session.at_failure.append(_KeptFailures(torch, session).look)


class _KeptFailures:
    def __init__(self, torch: types.ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._seconds_left = _MOST_SECONDS
        self._is_first = True
        self._errors: list[BaseException] = []  # found in the current look

    def look(self) -> None:
        """States where one is kept: "handled" or "name", the name, the place and storages, separated by tabs."""
        if not self._is_first and names_are_recorded():
            try:
                found = self._handled() or self._of_interpreter() or self._named()
                self._session.core.annotate(FAILURE_KEPT, found and f"{found}\t{self._held()}")
            finally:
                self._errors.clear()
        self._is_first = False

    def _held(self) -> str:
        """Returns the storages that only the ended frames of the found tracebacks hold."""
        frames = ended_frames(self._errors)
        values = gc.get_referents(*frames) if frames else []
        return text_of(freed_with(self._torch, [values], _MOST_OBJECTS, frames))

    def _handled(self) -> str:
        """Finds an exception whose handler tries again while it handles it."""
        for current in list(sys._current_exceptions().values()):
            error: object = current[1] if is_a(current, tuple) else current  # before Python 3.12 there are three values
            if self._is_failure(error):
                frame = own_attribute(error, "__traceback__").tb_frame
                return f"handled\t\t{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        return ""

    def _of_interpreter(self) -> str:
        for name in _OF_INTERPRETER:
            if self._is_failure(getattr(sys, name, None)):
                return f"name\tsys.{name}\t"
        return ""

    def _named(self) -> str:
        if self._seconds_left <= 0:
            return ""
        begin = time.monotonic()
        try:
            values = named_values(self._torch, min(_SECONDS, self._seconds_left))
            found = [f"name\t{each.name}\t{each.place}" for each in values if self._is_failure(each.value)]
        finally:  # a signal handler may raise
            self._seconds_left -= time.monotonic() - begin
        return found[0] if found else ""  # the one with the shortest path

    def _is_failure(self, error: object) -> TypeGuard[BaseException]:
        """True if it is an out-of-memory with a traceback, or was raised because of one."""
        for _ in range(_LONGEST_CHAIN):
            if not is_a(error, BaseException):
                return False
            has_frames = own_attribute(error, "__traceback__") is not None
            if has_frames and is_a(error, self._torch.OutOfMemoryError):
                self._errors.append(error)
                return True
            cause = own_attribute(error, "__cause__")
            error = own_attribute(error, "__context__") if cause is None else cause
        return False


def ended_frames(errors: list[BaseException]) -> list[types.FrameType]:
    """Lists the frames of their tracebacks that no thread runs any more, each once."""
    running: set[int] = set()
    for current in sys._current_frames().values():
        frame: types.FrameType | None = current
        while frame is not None:
            running.add(id(frame))
            frame = frame.f_back
    ended: dict[int, types.FrameType] = {}
    for error in errors:
        traceback = own_attribute(error, "__traceback__")
        while traceback is not None:
            if id(traceback.tb_frame) not in running:
                ended[id(traceback.tb_frame)] = traceback.tb_frame
            traceback = traceback.tb_next
    return list(ended.values())


def own_attribute(error: BaseException, name: str) -> Any:  # a traceback, an exception or None, by `name`
    """Returns an attribute of BaseException, even if the exception's class has another one of that name."""
    return BaseException.__dict__[name].__get__(error)
