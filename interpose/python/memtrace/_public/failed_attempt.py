# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets go of what an attempt left that ran out of memory: the variables in the frames of its exception."""

import gc
import os
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

from memtrace._holders.kept_failures import ended_frames, own_attribute
from memtrace._holders.named_values import is_a, local_values
from memtrace._holders.unread_names import is_function
from memtrace._process.graphs import graph_of
from memtrace._program.user_modules import is_library
from memtrace._text.messages import translated
from memtrace._text.say import say

# Errors of CUDA's libraries have no class of their own.
_WORDS = ("out of memory", "ALLOC_FAILED")
_LONGEST_CHAIN = 16
_MAY_PAUSE = 0x20 | 0x80 | 0x200  # inspect.CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
_FRAME_OF = {types.GeneratorType: "gi_frame", types.CoroutineType: "cr_frame", types.AsyncGeneratorType: "ag_frame"}


def release() -> int:
    """Does what `memtrace.release_failed_attempt` says, and returns what that returns."""
    torch = sys.modules.get("torch")
    errors = _failures(torch) if torch is not None else []
    if torch is None or not errors:
        return 0
    before = _allocated(torch)
    _clear(ended_frames(errors))
    for name, place in _left(torch, errors):
        say(
            translated(
                "'$0' ($1) has a graph of autograd, perhaps that of the failed attempt. If so, delete it before the "
                "next attempt.",
                name,
                place,
            )
        )
    del errors
    gc.collect()
    return max(before - _allocated(torch), 0)


def _failures(torch: types.ModuleType) -> list[BaseException]:
    """Lists the living exceptions of failed requests with those that they caused, except what other threads handle."""
    elsewhere = _handled_elsewhere()
    found: dict[int, BaseException] = {}
    for error in gc.get_objects():
        if is_a(error, BaseException):
            chain = _chain(error)
            if id(error) not in elsewhere and any(_is_failure(torch, each) for each in chain):
                found |= {id(each): each for each in chain if id(each) not in elsewhere}
    return list(found.values())


def _chain(error: BaseException) -> list[BaseException]:
    """Lists the exception and those that it was raised because of, or while they were handled."""
    chain = [error]
    for each in chain:
        for name in ("__cause__", "__context__"):
            earlier = own_attribute(each, name)
            if earlier is not None and len(chain) < _LONGEST_CHAIN and not any(earlier is known for known in chain):
                chain.append(earlier)
    return chain


def _handled_elsewhere() -> set[int]:
    mine = threading.get_ident()
    ids: set[int] = set()
    for thread, current in list(sys._current_exceptions().items()):
        error: object = current[1] if is_a(current, tuple) else current  # before Python 3.12 there are three values
        if thread != mine and is_a(error, BaseException):
            ids.update(id(each) for each in _chain(error))
    return ids


def _is_failure(torch: types.ModuleType, error: BaseException) -> bool:
    """True for an out-of-memory, and for the errors by which CUDA's libraries say the same."""
    if own_attribute(error, "__traceback__") is None:
        return False
    if is_a(error, torch.OutOfMemoryError):
        return True
    text = own_attribute(error, "args")
    return is_a(error, RuntimeError) and any(type(part) is str and word in part for part in text for word in _WORDS)


def _clear(frames: list[types.FrameType]) -> None:
    """Clears the variables of functions that have ended; a generator that waits would be closed by that."""
    may_pause = any(frame.f_code.co_flags & _MAY_PAUSE for frame in frames)
    pausing = _frames_that_pause() if may_pause else []
    waiting = {id(frame) for frame in pausing}
    for frame in frames:
        if is_function(frame.f_code) and id(frame) not in waiting:
            try:
                frame.clear()
            except RuntimeError:  # another thread runs it by now
                continue
            _ = frame.f_locals  # before Python 3.13 a debugger's look leaves a copy, which this brings up to date


def _frames_that_pause() -> list[types.FrameType]:
    """Lists the frames of generators and coroutines that have not ended."""
    pausing = [each for each in gc.get_objects() if type(each) in _FRAME_OF]
    frames = [getattr(each, _FRAME_OF[type(each)]) for each in pausing]
    return [frame for frame in frames if frame is not None]


def _left(torch: types.ModuleType, errors: list[BaseException]) -> Iterator[tuple[str, str]]:
    """Yields name and place of each variable with a graph that the tracebacks lead to after the frames were cleared."""
    for error in errors:
        traceback = own_attribute(error, "__traceback__")
        while traceback is not None:
            frame = traceback.tb_frame
            if not is_library(frame.f_code.co_filename):
                place = f"{os.path.basename(frame.f_code.co_filename)}:{traceback.tb_lineno}"
                yield from ((name, place) for name, value in _variables(frame) if _has_graph(torch, value))
            traceback = traceback.tb_next


def _variables(frame: types.FrameType) -> list[tuple[str, object]]:
    return local_values(frame) if is_function(frame.f_code) else list(frame.f_globals.items())


def _has_graph(torch: types.ModuleType, value: Any) -> bool:  # any object of the program
    return type(value) is torch.Tensor and bool(value.is_cuda) and graph_of(value) is not None


def _allocated(torch: types.ModuleType) -> int:
    """Returns the bytes in use in torch's allocator on all cards; 0 if its allocator does not count."""
    if not torch.cuda.is_initialized():
        return 0
    try:
        return sum(torch.cuda.memory_allocated(card) for card in range(torch.cuda.device_count()))
    except RuntimeError:  # an allocator of torch's class CUDAPluggableAllocator
        return 0
