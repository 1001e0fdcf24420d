# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Ends a trial in the middle of the program: all facts are written, no process remains, the exit code is 0."""

import contextlib
import ctypes
import os
import sys
from typing import NoReturn

from memtrace._process.session import Session

# The time for a worker to end by itself; it holds nothing of value.
_SECONDS = 1.0


def end_process(session: Session) -> NoReturn:
    """Closes the trace and ends this process and those that multiprocessing started for it."""
    session.close()
    end_without_handlers()


def end_without_handlers(code: int = 0) -> NoReturn:
    """Ends this process, with that exit code, and those that multiprocessing started for it.

    Exit handlers and other threads do not run, because they would wait for ever.
    """
    _end_workers()
    _flush()
    os._exit(code)


def _end_workers() -> None:
    """Ends workers, because those of a DataLoader notice the end of their parent only after five seconds."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is None:
        return
    # A worker that another process started cannot be queried, and is not ours.
    with contextlib.suppress(Exception):
        workers = multiprocessing.active_children()
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join(_SECONDS)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or a pipe without a reader
            stream.flush()
    ctypes.CDLL(None).fflush(None)
