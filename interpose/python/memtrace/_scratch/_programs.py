# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Programs other than Python that the program starts: their writes are not kept away, and the report says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import StrOrBytesPath

_FIRST = 5
# Programs by which torch, triton and Python's libraries query the machine or build, in folders of their own.
_ASKED = frozenset(
    ("addr2line", "c++", "cc", "g++", "gcc", "ld", "ldconfig", "lscpu", "ninja", "nvcc", "nvidia-smi", "ptxas", "uname")
)


class StartedPrograms:
    """Counts programs that this process starts."""

    def __init__(self) -> None:
        """Starts now: an audit hook cannot be removed."""
        self.count = 0
        self.first: list[str] = []
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[StrOrBytesPath, ...]) -> None:
        told = _PROGRAM_OF.get(event)
        if told is None or _is_reported_by_popen(event):
            return
        try:
            name = os.path.basename(os.fsdecode(told(args)))
        except (TypeError, IndexError):  # another version has other arguments
            name = "?"
        if name in _ASKED or name.startswith("python"):
            return
        self.count += 1
        if name not in self.first and len(self.first) < _FIRST:
            self.first.append(name)


def _is_reported_by_popen(event: str) -> bool:
    """True for os.posix_spawn within subprocess.Popen, which has an event of its own."""
    caller = sys._getframe(1).f_back
    return event == "os.posix_spawn" and caller is not None and caller.f_globals.get("__name__") == "subprocess"


def _of_shell(args: tuple[StrOrBytesPath, ...]) -> str:
    return os.fsdecode(args[0]).split()[0]


# The events and their arguments are from Python's table of audit events.
_PROGRAM_OF: dict[str, Callable[[tuple[StrOrBytesPath, ...]], StrOrBytesPath]] = {
    "subprocess.Popen": lambda args: args[0],
    "os.system": _of_shell,
    "os.posix_spawn": lambda args: args[0],
    "os.exec": lambda args: args[0],
}
