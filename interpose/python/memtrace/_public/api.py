# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The functions a program calls."""

import functools
import inspect
import sys
import types
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from memtrace._core.package import shim_library, supported_torch
from memtrace._start import torch_import
from memtrace._start.off import is_off

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
    """Switches memtrace on for this process: its allocator and its recorder.

    Call it before CUDA is first used; torch may be imported already or not. If CUDA is already in use, torch's own
    allocator stays, and its memory is recorded from then on. The trace is the file that `MEMTRACE_OUTPUT` names, by
    default `memtrace-SCRIPT.PID.trace` in the current folder. If memtrace is on already, as under `memtrace run`,
    nothing changes.

    No exception is raised. If memtrace cannot start, one line on stderr says why, and the program goes on without it.

    Thread rule: any thread, but not two at the same time.

    Returns:
        True if memtrace is on, or will start because torch is not imported yet. False if it cannot start, for example
        because this torch is not supported. With `MEMTRACE=0` also False, and nothing is printed.

    Example:
        >>> import memtrace
        >>> memtrace.enable()
        True
    """
    if is_off():
        return False
    torch = sys.modules.get("torch")
    if torch is None:
        torch_import.watch()
        return True
    return torch_import.start(torch)


def step() -> None:
    """Ends a training step and begins the next.

    Without it, each `optimizer.step()` ends a step. After the first call, only calls end steps. Steps are counted from
    1; step 1 begins with the first forward pass. Does nothing while memtrace is off. In a run of `memtrace fit`, a call
    may end the process, because the run has seen enough steps.

    Thread rule: any thread, but not two at the same time. A step belongs to the whole process.

    Example:
        >>> import memtrace, torch
        >>> model = torch.nn.Linear(256, 256, device="cuda")
        >>> for _ in range(3):
        ...     with torch.no_grad():
        ...         output = model(torch.zeros(8, 256, device="cuda"))
        ...     memtrace.step()  # there is no optimizer that would end the step
    """
    from memtrace._process.session import current_session

    session = current_session()
    if session is not None:
        session.step()


def release_failed_attempt() -> int:
    """Lets go of the memory that an attempt left when it ran out of memory, so that the next one has room.

    Call it before the next attempt, also in the `except` clause. An exception that is still handled, or that a variable
    or the notebook keeps, holds all variables of the functions that failed, and so their tensors. The call clears these
    variables and collects garbage once. The exception stays and can be printed, but a debugger finds no variables in
    its frames. It works without `enable` as well; without a failed attempt it does nothing.

    Functions that still run keep their variables. If one of these, or a variable of the script, has a graph of
    autograd, such as `loss`, one line on stderr names it.

    Thread rule: any thread. An exception that another thread handles at that time is left alone.

    Returns:
        The bytes of the cards that came free in torch's allocator; 0 if no attempt failed.

    Example:
        >>> import memtrace, torch
        >>> def attempt(rows):
        ...     x = torch.zeros(rows, 1 << 20, device="cuda")
        ...     return (x + 1).sum().item()
        >>> for rows in (300, 30):
        ...     try:
        ...         result = attempt(rows)
        ...         break
        ...     except torch.OutOfMemoryError:
        ...         freed = memtrace.release_failed_attempt()  # 1.17 GiB; a card of 2 GiB has no room for both
        >>> rows, freed == 300 << 22
        (30, True)
    """
    from memtrace._public import failed_attempt

    return failed_attempt.release()


def pluggable_library() -> str:
    """Returns the library that gives memtrace's allocator to torch's own class `CUDAPluggableAllocator`.

    The functions to allocate and to free are `memtrace_malloc` and `memtrace_free`. For the setters of the class, the
    library also has `memtrace_init`, `memtrace_reset`, `memtrace_memory_fraction`, `memtrace_base_address`,
    `memtrace_record_block_stream`, `memtrace_pool_begin`, `memtrace_pool_end` and `memtrace_pool_release`. Without the
    last three, the memory of captured graphs is not kept apart. The call imports torch. Use it in place of `enable`
    and of `memtrace run`, not beside them.

    Thread rule: any thread.

    Returns:
        The path of a shared library for the installed torch.

    Raises:
        RuntimeError: If this installation has no library for the installed torch.
        ImportError: If torch is not installed.

    Example:
        >>> import memtrace, torch
        >>> library = memtrace.pluggable_library()
        >>> allocator = torch.cuda.memory.CUDAPluggableAllocator(library, "memtrace_malloc", "memtrace_free")
        >>> torch.cuda.memory.change_current_allocator(allocator)  # before CUDA is first used
        >>> torch.zeros(2, device="cuda").shape
        torch.Size([2])
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
    """Sets the owner of the card's memory that is allocated inside a `with` block or a function.

    Tags nest: "a" inside "b" is the owner "b/a". Memory of a backward pass belongs to the owner of its forward pass.
    Does nothing while memtrace is off, and before torch is imported.

    Thread rule: any thread. A tag applies to the thread that enters it, which must also leave it. Threads that are
    started inside keep it for good; tasks of a ThreadPoolExecutor have the tags of the thread that submitted them. In
    async code decorate the function: a `with` block also covers what other tasks do while it waits.

    Args:
        name: The owner, as reports show it. It must not be empty or contain "/", which joins nested tags.
        movable: If true, the memory lies in chunks of its own, which `memtrace.sleep(name)` takes off the card and
            `memtrace.wake(name)` brings back. All such tags of one name are one owner, whatever they are nested in; the
            innermost movable tag counts. Memory of a backward pass is not movable, unless it runs inside the tag.

    Raises:
        ValueError: If `name` is empty or contains "/".
        RuntimeError: On entering, if `movable` is true and memtrace's allocator does not serve this process.

    Example:
        >>> import memtrace, torch
        >>> with memtrace.tag("teacher"):
        ...     teacher = torch.nn.Linear(256, 256, device="cuda")  # owner "teacher"
        ...     with memtrace.tag("cache"):
        ...         cache = torch.zeros(8, 256, device="cuda")  # owner "teacher/cache"
        >>> memtrace.tag("teacher/cache")
        Traceback (most recent call last):
        ValueError: memtrace.tag: 'teacher/cache' is not a tag. Give a name that is not empty and has no '/'.
    """

    def __init__(self, name: str, movable: bool = False) -> None:
        if not name or "/" in name:
            raise ValueError(f"memtrace.tag: {name!r} is not a tag. Give a name that is not empty and has no '/'.")
        self._name = name
        self._is_movable = movable
        self._scopes: list[AbstractContextManager[None]] = []  # one for each time that it was entered

    def __enter__(self) -> "tag":
        from memtrace._process.session import current_session

        session = current_session()
        if self._is_movable and not is_off():
            self._begin_movable()
        if session is not None:
            session.push_tag(self._name)
        self._session = session
        return self

    def _begin_movable(self) -> None:
        from memtrace._asleep.refusals import check_allocator
        from memtrace._asleep.scopes import movable_scope

        check_allocator("tag: movable=True")
        scope = movable_scope(self._name)
        scope.__enter__()
        self._scopes.append(scope)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._session.pop_tag()
        if self._scopes:
            self._scopes.pop().__exit__(None, None, None)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Returns `function` with every call tagged; `tag` is then a decorator.

        An `async def` function or a generator is tagged while it runs, not while it waits.

        Thread rule: any thread; each call is tagged on its own thread.

        Args:
            function: A function, a coroutine function or a generator function.

        Returns:
            A function with the same arguments and the same result.

        Raises:
            TypeError: If `function` is an async generator function. Use `with` inside it.

        Example:
            >>> import memtrace, torch
            >>> @memtrace.tag("batch")
            ... def load(size):
            ...     return torch.zeros(size, 256, device="cuda")
            >>> load(8).shape
            torch.Size([8, 256])
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
            with tag(self._name, self._is_movable):
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
                with tag(self._name, self._is_movable):
                    yielded = resume(value)
            except StopIteration as stop:
                return stop.value
            try:
                resume, value = inner.send, (yield yielded)
            except GeneratorExit:
                with tag(self._name, self._is_movable):
                    inner.close()
                raise
            except BaseException as error:
                resume, value = inner.throw, error
