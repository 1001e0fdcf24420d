# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What stays allocated from step to step: it may grow for long below the peak of an earlier step."""

from collections import deque
from types import ModuleType

_MOST_HIGHS = 100  # the most that are kept: the last of them predict the next
_FIRST_STEP = 2  # the first one with optimizer states from its begin on
_LEAST_GROWTH = 16 << 10  # bytes a step: with less, no card is full within a million steps


class Floors:
    """The highest of the allocated bytes of each card at the ends of steps. Thread rule: like torch's statistics."""

    def __init__(self, torch: ModuleType) -> None:
        """Begins with the end of step 2."""
        self._torch = torch
        self._first: list[int] = []
        # The steps whose ends have more than all before, and the most of each card so far beyond that of step 2.
        self.highs: deque[tuple[int, list[int]]] = deque(maxlen=_MOST_HIGHS)

    def rose_since_last_call(self, step: int) -> bool:
        """Notes the end of a step. True if more stays than after all earlier ones, by more than a trifle."""
        if step < _FIRST_STEP:
            return False
        now = self._allocated()
        if not self.highs or len(now) != len(self._first):  # CUDA may be initialized late
            self.highs.clear()
            self._first = now
            self.highs.append((step, [0] * len(now)))
            return False
        latest = self.highs[-1][1]
        most = [max(before, bytes_now - first) for before, bytes_now, first in zip(latest, now, self._first, strict=True)]
        if most == latest:
            return False
        self.highs.append((step, most))
        return max(high - before for high, before in zip(most, latest, strict=True)) >= _LEAST_GROWTH

    def _allocated(self) -> list[int]:
        cuda = self._torch.cuda
        cards = cuda.device_count() if cuda.is_initialized() else 0
        return [int(cuda.memory_stats(card).get("allocated_bytes.all.current", 0)) for card in range(cards)]
