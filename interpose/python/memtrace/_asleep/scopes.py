# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The scopes in which a thread allocates memory of a movable owner."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from memtrace._asleep.core_calls import sleep_core


@contextlib.contextmanager
def movable_scope(owner: str) -> Generator[None, None, None]:
    """Gives the memory that this thread allocates inside to `owner`; "" is memory that is not movable."""
    sleep_core().push(owner)
    try:
        yield
    finally:
        sleep_core().pop()
