# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""User files that Python opens for writing past the functions that were replaced: they are listed, to be named."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from memtrace._scratch._names import Names

if TYPE_CHECKING:
    from _typeshed import StrOrBytesPath

_LIST = ".opened"
_open, _write, _close = os.open, os.write, os.close  # as they are before they are replaced
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Escapes:
    """By io.FileIO and posix, which are not replaced, and by whoever took `open` for himself before it was."""

    def __init__(self, folder: str, names: Names) -> None:
        """From now on: an audit hook cannot be taken away again. The list is in `folder`, the trial's own."""
        self._folder = os.path.realpath(folder)
        self._names = names
        self._told: set[str] = set()
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[StrOrBytesPath, object, object]) -> None:
        if event != "open" or len(args) < 3 or not isinstance(args[2], int) or not args[2] & _WRITING:
            return
        name = self._names.name(args[0])
        if name is None or name in self._told or self._is_ours(args[0]) or os.path.isdir(name):
            return
        self._told.add(name)
        listed = _open(os.path.join(self._folder, _LIST), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        _write(listed, os.fsencode(name) + b"\n")
        _close(listed)

    def _is_ours(self, path: StrOrBytesPath) -> bool:
        """Tells whether it lies in the scratch folder, where what is replaced leads."""
        return os.path.realpath(os.fsdecode(path)).startswith(self._folder + os.sep)
