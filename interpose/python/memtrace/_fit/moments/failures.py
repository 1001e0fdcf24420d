# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions that have nothing to do with memory, after which the shortened job goes on."""

from __future__ import annotations

import os
import traceback
from types import ModuleType

from memtrace._fit.caught import is_about_memory
from memtrace._program.user_modules import is_library


def failed_by_itself(torch: ModuleType, error: BaseException) -> bool:
    """True if neither torch nor a library lacked memory."""
    return not isinstance(error, torch.OutOfMemoryError) and not is_about_memory(error)


def failure_text(error: BaseException) -> str:
    """Returns "ValueError at metrics.py:12": the innermost line of the user's own, else the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not is_library(frame.filename)]
    place = (own or list(frames))[-1:]
    at = f" at {os.path.basename(place[0].filename)}:{place[0].lineno}" if place else ""
    return f"{type(error).__name__}{at}"
