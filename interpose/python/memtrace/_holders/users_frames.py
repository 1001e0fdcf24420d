# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Frames that run code of the program's own, not of libraries."""

import os
import re
import sys
import threading
from types import CodeType, FrameType

from memtrace._holders.user_modules import is_library

_MOST_FRAMES = 200  # of a thread
_FOLDERS = re.compile(r"[^ \t\n\"'=,;:()\[\]{}]*/")  # as interpose/core/recorded_text/recorded_paths.cc cuts them


def names_are_recorded() -> bool:
    """Tells whether names and lines of the program's text may be in a trace (--no-source)."""
    return os.environ.get("MEMTRACE_SOURCE") != "0"


def place_of(frame: FrameType) -> str:
    """Gives the file, as stacks in the trace have it, and the line, with a tab between them."""
    return f"{recorded_file(frame.f_code)}\t{frame.f_lineno}"


def recorded_file(code: CodeType) -> str:
    """Gives the file of some code, as stacks in the trace have it."""
    return _FOLDERS.sub("", code.co_filename) if os.environ.get("MEMTRACE_PATHS") == "0" else code.co_filename


def innermost_users_frame(frame: FrameType | None) -> FrameType | None:
    """Gives the first one from `frame` outwards that runs code of the program's own."""
    for _ in range(_MOST_FRAMES):
        if frame is None or not is_library(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def users_frames(frame: FrameType | None) -> list[FrameType]:
    """Lists those from `frame` outwards, innermost first."""
    found: list[FrameType] = []
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if not is_library(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found


def all_frames() -> list[FrameType]:
    """Lists those of every thread, the calling one's first: a backward's memory is requested by one without frames.

    No variable here may have this call's own frame, which would keep all frames around it, and what they have.
    """
    mine = threading.get_ident()
    others = [frame for thread, frame in sys._current_frames().items() if thread != mine]
    return users_frames(sys._getframe().f_back) + [each for frame in others for each in users_frames(frame)]
