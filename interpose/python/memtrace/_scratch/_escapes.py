# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the user's files that Python opens for writing without the replaced functions, so that they can be named."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from memtrace._scratch._names import Names

if TYPE_CHECKING:
    from _typeshed import StrOrBytesPath

_LIST = ".opened"
_open, _write, _close = os.open, os.write, os.close  # the functions before they are replaced
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Escapes:
    """Files opened by io.FileIO and posix, which are not replaced, or by code that kept the original `open`."""

    def __init__(self, folder: str, names: Names) -> None:
        """Starts now: an audit hook cannot be removed. The list is in `folder`, the trial's own."""
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
        """True if it lies in the scratch folder, where the replaced functions write."""
        return os.path.realpath(os.fsdecode(path)).startswith(self._folder + os.sep)
