# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The most that a process ever allocated and reserved on each card, even if the program resets torch's statistics."""

import functools
from collections import Counter, deque
from types import ModuleType

from memtrace._core.vocabulary import FIT_PEAK_ALLOCATED, FIT_PEAK_RESERVED
from memtrace._patching import patches

_MOST_RISES = 100  # the most that are kept: the last of them predict the next
_KEYS = {FIT_PEAK_ALLOCATED: "allocated_bytes", FIT_PEAK_RESERVED: "reserved_bytes"}


class Peaks:
    """Peaks by key and card, in bytes: `fit.peak_allocated.0`. Thread rule: like torch's statistics, any thread."""

    def __init__(self, torch: ModuleType) -> None:
        """Reads the peaks before the program resets them."""
        self._torch = torch
        self._peaks: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()  # peaks at the last call of `rose_since_last_call`
        # The steps at which an allocated peak rose, each with the peaks of all cards.
        self.rises: deque[tuple[int, list[int]]] = deque(maxlen=_MOST_RISES)
        for name in ("_cuda_resetPeakMemoryStats", "_accelerator_resetPeakStats"):
            self._watch_reset(name)

    def _watch_reset(self, name: str) -> None:
        """Reads the peaks before each reset, because programs that print the peak of each step reset it."""
        original = getattr(self._torch._C, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def reset(*args: object) -> object:
            self._read()
            return original(*args)

        patches.put(self._torch._C, name, reset, "torch._C: notes the peaks that a program resets, in a trial of fit")

    def rose_since_last_call(self, step: int) -> bool:
        """True if a peak is higher than at the last call, at an earlier step, or at the first call."""
        self._read()
        has_risen = self._peaks != self._seen or not self._seen
        allocated = self._allocated()
        if allocated and (not self.rises or allocated != self.rises[-1][1]):  # empty before CUDA is initialized
            self.rises.append((step, allocated))
        self._seen = self._peaks.copy()
        return has_risen

    def by_key(self) -> dict[str, int]:
        """Returns all peaks so far."""
        self._read()
        return dict(self._peaks)

    def _allocated(self) -> list[int]:
        """Returns the peak of each card."""
        cards = self._torch.cuda.device_count() if self._torch.cuda.is_initialized() else 0
        return [self._peaks[f"{FIT_PEAK_ALLOCATED}.{card}"] for card in range(cards)]

    def _read(self) -> None:
        cuda = self._torch.cuda
        if not cuda.is_initialized():
            return
        for card in range(cuda.device_count()):
            statistics = cuda.memory_stats(card)
            for key, name in _KEYS.items():
                numbered = f"{key}.{card}"
                self._peaks[numbered] = max(self._peaks[numbered], statistics.get(f"{name}.all.peak", 0))
