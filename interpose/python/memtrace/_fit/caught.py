# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Out-of-memory errors that reach Python, and whether the program went on after the last of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace import _patches

if TYPE_CHECKING:
    import torch

_ASKED = re.compile(r"Tried to allocate ([0-9.]+) (bytes|KiB|MiB|GiB)")
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class CaughtErrors:
    """Watches torch.OutOfMemoryError. A request that a library tried and got over raises none.

    Thread rule: as exceptions, from any thread.
    """

    def __init__(self, torch: ModuleType, steps: Callable[[], int]) -> None:
        """`steps` gives how many steps have ended."""
        self._torch = torch
        self._steps = steps
        self.raised = 0
        self._steps_then = 0
        self._allocated_then = 0
        self._asked = 0  # bytes
        self._watch(torch.OutOfMemoryError)

    def went_on(self) -> bool:
        """Tells whether the program has ended a step since, or, if it makes none, allocated half as much again.

        True if no error reached Python.
        """
        if self.raised == 0:
            return True
        if self._steps() > 0:
            return self._steps() > self._steps_then
        return self._allocated() - self._allocated_then >= max(self._asked // 2, 1)

    def _watch(self, error: type[torch.OutOfMemoryError]) -> None:
        original = error.__init__

        def init(this: BaseException, *args: object, **kwargs: object) -> None:
            original(this, *args, **kwargs)
            self.raised += 1
            self._steps_then = self._steps()
            self._allocated_then = self._allocated()
            self._asked = _bytes_asked(args)

        _patches.put(
            error, "__init__", init, "torch.OutOfMemoryError.__init__: those that a program catches, in a trial of fit"
        )

    def _allocated(self) -> int:
        """Gives the bytes ever allocated, on all cards."""
        cuda = self._torch.cuda
        if not cuda.is_initialized():
            return 0
        cards = range(cuda.device_count())
        return sum(int(cuda.memory_stats(card).get("allocated_bytes.all.allocated", 0)) for card in cards)


def _bytes_asked(args: tuple[object, ...]) -> int:
    """Gives the size of the request, as torch's text and ours say it; 0 if it does not."""
    found = _ASKED.search(str(args[0])) if args else None
    return int(float(found[1]) * _UNITS[found[2]]) if found else 0
