# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The line of the program that calls a library, at which a change is made."""

from __future__ import annotations

import sys
from types import FrameType

# Modules whose callers are looked for instead.
_LIBRARIES = ("accelerate", "copy", "memtrace", "peft", "torch", "transformers", "trl")


def program_line() -> str:
    """Returns file:line of the innermost caller that belongs to none of the libraries; "" if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_library(frame):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_library(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _LIBRARIES
