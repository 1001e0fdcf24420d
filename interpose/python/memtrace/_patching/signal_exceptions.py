# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions that arrive from outside while our Python code runs: they must reach the program.

Python calls signal handlers between two instructions of any code on the main thread, including our hooks, and raises
there what a handler raises (such as a time limit by SIGALRM). PyThreadState_SetAsyncExc does so on any thread.
"""

import functools
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Our own code may raise classes of these modules; a class of any other is the program's.
_KNOWN_MODULES = {"builtins", "memtrace", "torch", *sys.stdlib_module_names} - {"__main__"}


def raise_if_from_outside(error: BaseException, caller: types.FrameType | None = None) -> None:
    """Raises an exception that came from outside; returns if `error` was raised by our own code.

    Call it at the beginning of every `except` that would keep `error`; the function with the `except` is `caller`, or
    calls this. It also checks the exceptions that `error` was raised on top of, because an interrupted clean-up may
    fail itself.
    """
    found = _from_outside(error, caller or sys._getframe(1))
    if found is None:
        return
    try:
        raise found
    finally:
        # Its traceback has this frame: a name here would make a cycle, so that all that the program's frames hold would
        # live until the next garbage collection.
        del found, error, caller


def _from_outside(error: BaseException, caller: types.FrameType) -> BaseException | None:
    """Returns the one from outside: `error`, or one that it was raised on top of; None if our own code raised all."""
    found: BaseException | None = error
    while found is not None:
        frames = _frames_below(found, caller)
        if frames is not None and _came_from_outside(found, frames):
            return found
        found = found.__context__
    return None


def _frames_below(error: BaseException, caller: types.FrameType) -> list[types.FrameType] | None:
    """Lists the frames through which `error` came to `caller`, which is first; None if it was raised elsewhere."""
    frames: list[types.FrameType] = []
    trace = error.__traceback__
    while trace is not None:
        if frames or trace.tb_frame is caller:
            frames.append(trace.tb_frame)
        trace = trace.tb_next
    return frames or None


def _came_from_outside(error: BaseException, frames: list[types.FrameType]) -> bool:
    if not isinstance(error, Exception):
        return True
    if threading.get_ident() == threading.main_thread().ident and _came_from_handler(frames):
        return True
    # Only the program raises a class of the program, and none of its code ran, so it came by SetAsyncExc.
    return not _is_known(type(error).__module__) and all(_is_known(frame.f_globals.get("__name__")) for frame in frames)


def _came_from_handler(frames: list[types.FrameType]) -> bool:
    codes = set()
    for handler in _handlers():
        code = _code_of(handler)
        if code is None and handler is not signal.default_int_handler:
            return True  # it leaves no frame: any exception may be its own
        codes.add(code)
    return any(
        frame.f_code in codes or _has_argument_among(frame, frames[:place])
        for place, frame in enumerate(frames)
        if not _is_ours(frame)
    )


def _handlers() -> Iterator[Callable[..., object]]:
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if callable(handler) and not isinstance(handler, signal.Handlers):
            yield handler


def _code_of(handler: object) -> types.CodeType | None:
    """Returns the code of a handler that is written in Python; None for others."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not isinstance(handler, (types.FunctionType, types.MethodType)):
        handler = type(handler).__call__
    code = getattr(handler, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _has_argument_among(frame: types.FrameType, outer: list[types.FrameType]) -> bool:
    """True if `frame` holds one of the frames that it interrupted, which handlers receive as an argument.

    This finds handlers that are no longer set, such as those that remove themselves before they raise.
    """
    for value in list(frame.f_locals.values()):
        values = value if isinstance(value, tuple) else (value,)
        if any(each is interrupted for each in values for interrupted in outer):
            return True
    return False


def _is_known(module: object) -> bool:
    return str(module).partition(".")[0] in _KNOWN_MODULES


def _is_ours(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)
