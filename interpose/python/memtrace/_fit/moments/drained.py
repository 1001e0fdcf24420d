# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Takes the batches of an epoch from a sampler before they are needed, and leaves the random state as it was."""

from __future__ import annotations

import contextlib
import random
import sys
import time
from collections.abc import Generator, Iterator
from types import ModuleType

_MOST_INDICES = 1_000_000  # samplers without end are cut here
_SECONDS = 5.0  # a sampler that computes each index


def drain(torch: ModuleType, indices: Iterator[object]) -> tuple[list[object], bool]:
    """Returns the batches up to the sampler's end or a limit, and if it was its end.

    The random state afterwards is that after the first batch, as the program would have it.
    """
    batches: list[object] = []
    for first in indices:
        batches.append(first)
        break
    else:
        return batches, True
    end, count = time.monotonic() + _SECONDS, 0
    with random_state_kept(torch):
        for batch in indices:
            batches.append(batch)
            count += len(batch) if isinstance(batch, (list, tuple)) else 1
            if count >= _MOST_INDICES or time.monotonic() > end:
                return batches, False
    return batches, True


@contextlib.contextmanager
def random_state_kept(torch: ModuleType) -> Generator[None, None, None]:
    """Sets the random states of the host back at the end: torch's, Python's and numpy's."""
    numpy = sys.modules.get("numpy")
    states = torch.get_rng_state(), random.getstate(), numpy.random.get_state() if numpy is not None else None
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        if numpy is not None and states[2] is not None:
            numpy.random.set_state(states[2])
