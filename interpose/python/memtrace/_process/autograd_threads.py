# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets autograd's threads finish before the interpreter ends, because torch aborts the program otherwise.

A card's thread tells the caller that its backward pass is over before it lets go of the pass. Where the last reference
is its own, it needs the interpreter's lock to drop the exception or the callbacks that the pass holds. A thread that
asks for the lock while the interpreter ends is ended by CPython (PyThread_exit_thread), in a destructor, so C++ calls
std::terminate: "terminate called without an active exception", and status 134 in place of the program's own. A plain
torch does the same. It is rare on an idle machine, and was seen on a busy one.
"""

from __future__ import annotations

import time
from pathlib import Path

_TASKS = Path("/proc/self/task")
_LONGEST_S = 1.0  # a thread that computes for longer does not clean up
_NAME = "pt_autograd_"  # torch names them (torch/csrc/autograd/engine.cpp)
_AT_WORK = ("R", "D")  # proc(5); a thread that waits for work, as all do in the end, sleeps (S)


def let_finish() -> None:
    """Waits without the interpreter's lock until no thread of autograd is at work, for at most a second."""
    end = time.monotonic() + _LONGEST_S
    threads = [task for task in _TASKS.iterdir() if _state(task)]
    while threads and time.monotonic() < end:
        time.sleep(0.001)  # a thread that waited for the lock has it then
        threads = [task for task in threads if _state(task) in _AT_WORK]


def _state(task: Path) -> str:
    """Returns the state of a thread of autograd; "" for others and for those that have ended."""
    try:
        name, _, facts = (task / "stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return ""
    return facts.split(maxsplit=1)[0] if name.startswith(_NAME) else ""
