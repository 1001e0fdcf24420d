# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a trial in the middle of the program: everything is said, nothing lingers, exit code 0."""

import contextlib
import ctypes
import os
import sys
from typing import NoReturn

from memtrace._session import Session

# What a worker gets to end by itself; it holds nothing of value.
_SECONDS = 1.0


def end_process(session: Session) -> NoReturn:
    """Closes the trace and ends this process and those that multiprocessing started for it.

    Neither exit handlers nor other threads get a chance: they would wait for what never comes.
    """
    session.close()
    _end_workers()
    _flush()
    os._exit(0)


def _end_workers() -> None:
    """Workers of a DataLoader notice the end of their parent only after five seconds."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is None:
        return
    # One that another process started cannot be asked; it is none of ours then.
    with contextlib.suppress(Exception):
        workers = multiprocessing.active_children()
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join(_SECONDS)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or a pipe that nobody reads
            stream.flush()
    ctypes.CDLL(None).fflush(None)
