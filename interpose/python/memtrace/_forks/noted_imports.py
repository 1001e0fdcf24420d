# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Notes what a run of `memtrace fit` has imported when it first uses CUDA: MEMTRACE_FIT_IMPORTS.

Only libraries are noted, in the order of their imports, up to the first variable of the environment that the program
itself sets: libraries read variables when they are imported, and later ones may depend on it.
"""

import json
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

from memtrace._patching import patches
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._program.user_modules import is_library

_IMPORT = "<frozen importlib._bootstrap>"

_noted: "NotedImports | None" = None


def begin(file: str) -> None:
    """Watches from the program's first line on; what is noted is written to `file`."""
    global _noted
    _noted = NotedImports(file)


def torch_imported(torch: ModuleType) -> None:
    """Writes the imports when CUDA is first used, if this is a run that notes them."""
    if _noted is not None:
        torch.cuda._lazy_call(_noted.write)


class NotedImports:
    """The imports of this process until it first uses CUDA."""

    def __init__(self, file: str) -> None:
        """Watches the variables of the environment."""
        self._file = file
        self._is_watching = True
        self._most: int | None = None  # modules that were imported before the program set a variable
        self._watch("putenv")
        self._watch("unsetenv")

    def _watch(self, name: str) -> None:
        original: Callable[..., None] = getattr(os, name)

        def change(*args: object) -> None:
            if self._is_watching and self._most is None and _is_programs_own(sys._getframe(1)):
                self._most = len(sys.modules)
            original(*args)

        patches.put(os, name, change, "os: notes the first variable that a program sets, in a run of fit")

    def write(self) -> None:
        """Writes the names of the imported libraries, each with its file, as JSON. A second call does nothing."""
        if not self._is_watching:
            return
        self._is_watching = False
        names = list(sys.modules)[: self._most]
        libraries = [(name, file) for name in names if (file := _file_of_library(name))]
        try:
            with open(self._file, "x", encoding="utf-8") as written:
                json.dump(libraries, written)
        except OSError as error:  # another process of the run has written it
            raise_if_from_outside(error)


def _file_of_library(name: str) -> str:
    """Returns the file of an imported library; "" for other modules, and for memtrace's own."""
    if name.partition(".")[0] == "memtrace":
        return ""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if not isinstance(spec, ModuleSpec) or spec.name != name or not spec.has_location:
        return ""
    return spec.origin if spec.origin is not None and is_library(spec.origin) else ""


def _is_programs_own(frame: FrameType | None) -> bool:
    """True unless a library that is being imported sets the variable."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file == _IMPORT:
            return False
        if not is_library(file):
            return True
        frame = frame.f_back
    return False
