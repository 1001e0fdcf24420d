# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Gives threads that the program starts the tags and module of the thread that started them.

Tasks of a ThreadPoolExecutor (and so of asyncio.to_thread) have those of the thread that submitted them. Its workers
have none of their own, because they serve all threads.
"""

from __future__ import annotations

import concurrent.futures.thread as pools
import functools
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.c_abi import Core
from memtrace._patching import patches
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


def watch(_torch: ModuleType, session: Session) -> None:
    """Applies from now on, to the whole process."""
    _watch_starts(session.core)
    _watch_tasks(session.core)


def _watch_starts(core: Core) -> None:
    scopes: IdentityMap[threading.Thread, int] = IdentityMap()
    start, bootstrap = threading.Thread.start, getattr(threading.Thread, "_bootstrap_inner", None)
    worker = getattr(pools, "_worker", None)
    if bootstrap is None:  # this Python starts threads differently: they begin untagged
        return

    @functools.wraps(start)
    def start_in_scope(thread: threading.Thread) -> None:
        scope = core.current_scope()
        if scope and getattr(thread, "_target", None) is not worker:
            scopes.set(thread, scope)
        start(thread)

    @functools.wraps(bootstrap)
    def bootstrap_in_scope(thread: threading.Thread) -> None:
        scope = scopes.get(thread)
        if scope:
            core.enter_scope(scope)
        bootstrap(thread)

    patches.put(
        threading.Thread,
        "start",
        start_in_scope,
        "threading.Thread.start: notes the module and the tags in which a thread is started",
    )
    patches.put(
        threading.Thread,
        "_bootstrap_inner",
        bootstrap_in_scope,
        "threading.Thread._bootstrap_inner: gives a thread the module and the tags of its start",
    )


def _watch_tasks(core: Core) -> None:
    submit: Callable[..., Future[object]] = pools.ThreadPoolExecutor.submit

    @functools.wraps(submit)
    def submit_in_scope(
        pool: Executor, function: Callable[..., object], /, *args: object, **kwargs: object
    ) -> Future[object]:
        scope = core.current_scope()
        if not scope:
            return submit(pool, function, *args, **kwargs)
        return submit(pool, _in_scope, core, scope, function, *args, **kwargs)

    patches.put(
        pools.ThreadPoolExecutor,
        "submit",
        submit_in_scope,
        "concurrent.futures.ThreadPoolExecutor.submit: gives a task the module and the tags of its submission",
    )


def _in_scope(core: Core, scope: int, function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
    core.enter_scope(scope)
    try:
        return function(*args, **kwargs)
    finally:
        core.leave_scope()
