# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of `os` that query, make or delete one file; os.path, pathlib and shutil use them."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from memtrace._scratch import _listing
from memtrace._scratch._names import beside
from memtrace._scratch._places import Places
from memtrace._scratch._replacing import replace

if TYPE_CHECKING:
    from _typeshed import StrOrBytesPath

_ASKING = ("stat", "lstat", "access", "statvfs", "getxattr", "listxattr")
_MARKING = ("chmod", "chown", "lchown", "utime", "setxattr", "removexattr")
_MAKING = ("mkdir", "mkfifo", "mknod")

R = TypeVar("R")

Original = Callable[..., object]


def watch(places: Places) -> None:
    """Replaces them from now on."""
    answers = _Answers(places)
    table: dict[str, Original] = {
        **dict.fromkeys(_ASKING, answers.ask),
        **dict.fromkeys(_MARKING, answers.mark),
        **dict.fromkeys(_MAKING, answers.make),
        **dict.fromkeys(("remove", "unlink"), answers.unlink),
        "rmdir": answers.rmdir,
        "truncate": answers.truncate,
        "readlink": answers.readlink,
        "chdir": answers.chdir,
        "getcwd": lambda original: places.names.shown(original()),
        "getcwdb": lambda original: os.fsencode(places.names.shown(os.fsdecode(original()))),
        "listdir": lambda original, path=".": _listing.listdir(places, original, path),
        "scandir": lambda original, path=".": _listing.scandir(places, original, path),
    }
    for name, answer in table.items():
        replace(os, name, answer, places.names.shown)
    # It would delete by file descriptors, which have no name.
    shutil._use_fd_functions = False  # type: ignore[attr-defined]


class _Answers:
    def __init__(self, places: Places) -> None:
        self._places = places

    def ask(
        self,
        original: Callable[..., R],
        path: StrOrBytesPath,
        *args: object,
        dir_fd: int | None = None,
        **kwargs: object,
    ) -> R:
        return original(self._places.found(beside(path, dir_fd)), *args, **kwargs)

    def mark(
        self, original: Original, path: StrOrBytesPath, *args: object, dir_fd: int | None = None, **kwargs: object
    ) -> object:
        """Leaves modes and times of the user's own files unchanged."""
        path = beside(path, dir_fd)
        name = self._places.names.name(path)
        if name is None or self._places.is_above(name) or not self._places.is_below(name):
            return self.ask(original, path, *args, **kwargs)  # type: ignore[arg-type]  # dir_fd is not among them
        return None

    def make(
        self, original: Original, path: StrOrBytesPath, *args: object, dir_fd: int | None = None, **kwargs: object
    ) -> object:
        path = beside(path, dir_fd)
        name = self._places.names.name(path)
        if name is None:
            return original(path, *args, **kwargs)
        return original(self._places.made(path, name), *args, **kwargs)

    def truncate(self, original: Original, path: StrOrBytesPath, length: int) -> None:
        original(self._places.written(path, keeps=True), length)

    def unlink(self, original: Original, path: StrOrBytesPath, *, dir_fd: int | None = None) -> None:
        self._remove(original, beside(path, dir_fd))

    def rmdir(self, original: Original, path: StrOrBytesPath, *, dir_fd: int | None = None) -> None:
        path = beside(path, dir_fd)
        name = self._places.names.name(path)
        if name is not None and _listing.names_in(self._places, name):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        self._remove(original, path)

    def _remove(self, original: Original, path: StrOrBytesPath) -> None:
        name = self._places.names.name(path)
        if name is None:
            original(path)
        elif self._places.is_above(name):
            original(self._places.names.above(name))
            self._places.delete(name)
        elif self._places.is_below(name):
            self._check_kind(original, path, name)
            self._places.delete(name)
        else:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    @staticmethod
    def _check_kind(original: Original, path: StrOrBytesPath, name: str) -> None:
        is_folder = os.path.isdir(name) and not os.path.islink(name)
        wrong = errno.ENOTDIR if original.__name__ == "rmdir" else errno.EISDIR
        if is_folder != (original.__name__ == "rmdir"):
            raise OSError(wrong, os.strerror(wrong), path)

    def readlink(self, original: Callable[..., str | bytes], path: StrOrBytesPath, **kwargs: int) -> str | bytes:
        target = self.ask(original, path, **kwargs)
        shown = self._places.names.shown(os.fsdecode(target))
        return os.fsencode(shown) if isinstance(target, bytes) else shown

    def chdir(self, original: Original, path: StrOrBytesPath) -> None:
        """Changes to the user's folder if it exists, because C code starts from there."""
        name = self._places.names.name(path)
        if name is not None and self._places.is_below(name):
            original(name)
        else:
            original(self._places.found(path))
