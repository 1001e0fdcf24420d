# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""MEMTRACE_COLLECT=1: runs the garbage collector before a request for memory fails (docs/design/recording.md)."""

import gc
import os

from memtrace._core.c_abi import Core
from memtrace._core.vocabulary import CYCLES_COLLECTIONS
from memtrace._text.say import say


def is_wanted() -> bool:
    """True if the user wants it."""
    return os.environ.get("MEMTRACE_COLLECT") == "1"


def start(core: Core, allocator: str) -> None:
    """Makes our allocator collect once for each request that would fail; torch's own cannot do that."""
    if allocator == "memtrace":
        core.collect_before_failing(_Collection(core).run)
    else:
        say("MEMTRACE_COLLECT=1 has no effect, because torch's own allocator serves this process.")


class _Collection:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._runs = 0

    def run(self) -> None:
        gc.collect()  # even if automatic collection is off
        self._runs += 1
        self._core.annotate(CYCLES_COLLECTIONS, str(self._runs))
