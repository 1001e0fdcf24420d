# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The functions a program calls."""

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from memtrace._package import shim_library, supported_torch
from memtrace._start import torch_import

if TYPE_CHECKING:
    from typing import Protocol

    class _Resumable(Protocol):
        """The common interface of generators and coroutines; `send` and `throw` resume one of them."""

        @property
        def send(self) -> Callable[..., object]: ...

        @property
        def throw(self) -> Callable[..., object]: ...

        def close(self) -> object: ...


P = ParamSpec("P")
R = TypeVar("R")


def enable() -> bool:
    """Switches memtrace on for this process: its allocator (or observation of torch's) and its recorder.

    Call it before the first use of CUDA; torch may be imported already or not. Returns True if memtrace is on, or will
    be once torch is imported. If not, one line on stderr says why, and the program goes on without memtrace.
    """
    if os.environ.get("MEMTRACE") == "0":
        return False
    torch = sys.modules.get("torch")
    if torch is None:
        torch_import.watch()
        return True
    return torch_import.start(torch)


def step() -> None:
    """Says that a training step ends here and the next begins. Without it, steps are counted by optimizer steps."""
    from memtrace import _session

    session = _session.current()
    if session is not None:
        session.step()


def pluggable_library() -> str:
    """Returns the library for `torch.cuda.memory.CUDAPluggableAllocator(library, "memtrace_malloc", "memtrace_free")`.

    For its setters it has `memtrace_init`, `memtrace_reset`, `memtrace_memory_fraction`, `memtrace_base_address`,
    `memtrace_record_block_stream`, `memtrace_pool_begin`, `memtrace_pool_end` and `memtrace_pool_release`; without the
    last three, the memory of captured graphs is not kept apart.

    Raises RuntimeError if this installation has none for the installed torch.
    """
    import torch

    minor = ".".join(torch.__version__.split(".")[:2])
    if minor not in supported_torch():
        raise RuntimeError(
            f"memtrace.pluggable_library: there is no library for torch {minor}. "
            f"Install one of torch {', '.join(supported_torch())}."
        )
    return str(shim_library(minor))


class tag:  # noqa: N801  # used as a function
    """Sets the owner of everything allocated inside: `with memtrace.tag("model"):` or `@memtrace.tag("model")`.

    Tags nest ("a" inside "b" is owner "b/a"). Memory of a backward pass belongs to the owner of its forward. Threads
    that are started inside keep the tags (docs/design/recording.md has the rules).
    """

    def __init__(self, name: str) -> None:
        """Names the owner; "/" is refused with ValueError because it joins nested tags."""
        if not name or "/" in name:
            raise ValueError(f"memtrace.tag: {name!r} is not a tag. Give a name that is not empty and has no '/'.")
        self._name = name

    def __enter__(self) -> "tag":
        from memtrace import _session

        session = _session.current()
        if session is not None:
            session.push_tag(self._name)
        self._session = session
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._session.pop_tag()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Tags every call of `function`; an `async def` or a generator is tagged while it runs, not while it waits.

        Raises TypeError for an async generator: use `with` inside it.
        """
        if inspect.isasyncgenfunction(function):
            raise TypeError(
                f"memtrace.tag cannot wrap the async generator {function.__qualname__}. "
                "Use `with memtrace.tag(...)` inside it."
            )
        if inspect.iscoroutinefunction(function):
            return cast(Callable[P, R], self._tag_coroutine(function))
        if inspect.isgeneratorfunction(function):
            return cast(Callable[P, R], self._tag_generator(function))

        @functools.wraps(function)
        def tagged(*args: P.args, **kwargs: P.kwargs) -> R:
            with tag(self._name):
                return function(*args, **kwargs)

        return tagged

    def _tag_coroutine(
        self, function: Callable[P, Coroutine[object, object, object]]
    ) -> Callable[P, Coroutine[object, object, object]]:
        @functools.wraps(function)
        async def tagged(*args: P.args, **kwargs: P.kwargs) -> object:
            return await types.coroutine(self._run_tagged)(function(*args, **kwargs))

        return tagged

    def _tag_generator(
        self, function: Callable[P, Generator[object, object, object]]
    ) -> Callable[P, Generator[object, object, object]]:
        @functools.wraps(function)
        def tagged(*args: P.args, **kwargs: P.kwargs) -> Generator[object, object, object]:
            return (yield from self._run_tagged(function(*args, **kwargs)))

        return tagged

    def _run_tagged(self, inner: "_Resumable") -> Generator[object, object, object]:
        """Runs a generator or coroutine, tagged from one wait to the next, because others run while it waits."""
        value: object
        resume, value = inner.send, None
        while True:
            try:
                with tag(self._name):
                    yielded = resume(value)
            except StopIteration as stop:
                return stop.value
            try:
                resume, value = inner.send, (yield yielded)
            except GeneratorExit:
                with tag(self._name):
                    inner.close()
                raise
            except BaseException as error:
                resume, value = inner.throw, error
