# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The line of the user's program that calls a function of torch, for sentences."""

import functools
import sys
import sysconfig
from pathlib import Path
from types import FrameType

from memtrace._core.package import PACKAGE


def program_line() -> str:
    """Returns the calling line as "train.py:31": the innermost one outside libraries.

    Without such a line, as in a program that is itself an installed library, it is the innermost one outside torch.
    """
    frame: FrameType | None = sys._getframe(1)
    outside_torch = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_of_library(file):
            return _text(file, frame.f_lineno)
        if outside_torch is None and not _is_of_torch(file):
            outside_torch = _text(file, frame.f_lineno)
        frame = frame.f_back
    return outside_torch or "a thread of torch"


def _text(file: str, line: int) -> str:
    return f"{Path(file).name}:{line}"


@functools.cache
def _is_of_library(file: str) -> bool:
    parts = Path(file).parts
    return _is_of_torch(file) or "site-packages" in parts or "dist-packages" in parts


@functools.cache
def _is_of_torch(file: str) -> bool:
    """True for files of torch, of memtrace and of Python itself."""
    paths = sysconfig.get_paths()
    is_of_python = file.startswith((paths["stdlib"], paths["platstdlib"], "<")) and "site-packages" not in file
    torch = str(Path(sys.modules["torch"].__file__ or "").parent) + "/"
    return is_of_python or file.startswith((str(PACKAGE) + "/", torch))
