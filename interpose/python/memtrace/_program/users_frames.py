# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Frames that run the program's own code, not that of libraries."""

import os
import re
import sys
import threading
from types import CodeType, FrameType

from memtrace._program.user_modules import is_library

_MOST_FRAMES = 200  # of a thread
_FOLDERS = re.compile(r"[^ \t\n\"'=,;:()\[\]{}]*/")  # the same cut as in interpose/core/recorded_text/recorded_paths.cc


def names_are_recorded() -> bool:
    """True if names and lines of the program's text may be in a trace (--no-source)."""
    return os.environ.get("MEMTRACE_SOURCE") != "0"


def place_of(frame: FrameType) -> str:
    """Returns the file, as in the trace's stacks, and the line, separated by a tab."""
    return f"{recorded_file(frame.f_code)}\t{frame.f_lineno}"


def recorded_file(code: CodeType) -> str:
    """Returns the file of some code, as in the trace's stacks."""
    return _FOLDERS.sub("", code.co_filename) if os.environ.get("MEMTRACE_PATHS") == "0" else code.co_filename


def innermost_users_frame(frame: FrameType | None) -> FrameType | None:
    """Returns the first frame from `frame` outwards that runs the program's own code."""
    for _ in range(_MOST_FRAMES):
        if frame is None or not is_library(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def users_frames(frame: FrameType | None) -> list[FrameType]:
    """Lists the frames of the program's own code from `frame` outwards, innermost first."""
    found: list[FrameType] = []
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if not is_library(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found


def all_frames() -> list[FrameType]:
    """Lists those of every thread, the calling one's first: threads that request a backward's memory have no frames.

    No variable here may hold this call's own frame, which would keep all frames around it and their variables alive.
    """
    mine = threading.get_ident()
    others = [frame for thread, frame in sys._current_frames().items() if thread != mine]
    return users_frames(sys._getframe().f_back) + [each for frame in others for each in users_frames(frame)]
