# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Out-of-memory errors that reach Python, and if the program continued after the last of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches

if TYPE_CHECKING:
    import torch

_ASKED = re.compile(r"Tried to allocate ([0-9.]+) (bytes|KiB|MiB|GiB)")
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# Libraries such as cuBLAS, cuDNN and NCCL say so in errors of other classes when they get no memory.
_OF_LIBRARIES = re.compile(r"out of memory|OUT_OF_MEMORY|_ALLOC_FAILED|_NOT_INITIALIZED")


class CaughtErrors:
    """Watches torch.OutOfMemoryError. Requests that a library tried and recovered from raise none.

    Thread rule: like exceptions, any thread.
    """

    def __init__(self, torch: ModuleType, steps: Callable[[], int]) -> None:
        """`steps` returns the number of steps that have ended."""
        self._torch = torch
        self._steps = steps
        self.raised = 0
        self._steps_then = 0
        self._allocated_then = 0
        self._asked = 0  # bytes
        self._watch(torch.OutOfMemoryError)

    def has_continued(self) -> bool:
        """True if the program has ended a step since or, if it makes none, allocated half as much again.

        Also true if no error reached Python, unless the program ended by another that tells of memory.
        """
        if self.raised == 0:
            return not is_about_memory(getattr(sys, "last_value", None))
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
            self._asked = _bytes_requested(args)

        patches.put(
            error,
            "__init__",
            init,
            "torch.OutOfMemoryError.__init__: counts the errors that a program catches, in a trial of fit",
        )

    def _allocated(self) -> int:
        """Returns the bytes ever allocated, on all cards."""
        cuda = self._torch.cuda
        if not cuda.is_initialized():
            return 0
        cards = range(cuda.device_count())
        return sum(int(cuda.memory_stats(card).get("allocated_bytes.all.allocated", 0)) for card in cards)


def is_about_memory(error: BaseException | None) -> bool:
    """True if an exception, or one that it was raised from, says that a library got no memory."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if _OF_LIBRARIES.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _bytes_requested(args: tuple[object, ...]) -> int:
    """Returns the size of the request from the error's text, torch's or ours; 0 if it has none."""
    found = _ASKED.search(str(args[0])) if args else None
    return int(float(found[1]) * _UNITS[found[2]]) if found else 0
