# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tells the user's own modules and files from those of libraries."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from types import ModuleType

from memtrace._core import package
from memtrace._patching.signal_exceptions import raise_if_from_outside

PACKAGE = str(package.PACKAGE) + os.sep
_FOLDERS = ("site-packages", "dist-packages", f"{os.sep}lib{os.sep}python3", sysconfig.get_path("stdlib"))
# This is not any(...) over a generator, because an exception of a signal handler is lost while a generator is closed.
_LIBRARY = re.compile("|".join([f"^(?:<frozen|{re.escape(PACKAGE)})", *map(re.escape, _FOLDERS)]))
_of_libraries: set[str] = set()  # names of modules: a program has thousands, so each is looked at once


def is_library(file: str) -> bool:
    """True if the file is Python's own, an installed package's, or this package's."""
    return _LIBRARY.search(file) is not None


def user_modules() -> Iterator[tuple[ModuleType, str]]:
    """Yields each imported module of the user with its file ("" if it has none, such as an interactive one).

    A module without a file is the user's only if it is __main__. Runs no code of the program.
    """
    for name, module in list(sys.modules.items()):
        if name in _of_libraries:
            continue
        file = _file_of(module)
        if name == "__main__" or (file and not is_library(file)):
            yield module, file
        else:
            _of_libraries.add(name)


def _file_of(module: object) -> str:
    try:
        file = object.__getattribute__(module, "__dict__").get("__file__")
    except Exception as error:  # another object in the place of a module
        raise_if_from_outside(error)
        return ""
    return file if isinstance(file, str) else ""
