# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces `open` in its three forms: reading, writing, and both."""

from __future__ import annotations

import builtins
import errno
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtrace._scratch._names import beside
from memtrace._scratch._places import Places
from memtrace._scratch._replacing import replace

if TYPE_CHECKING:
    from _typeshed import FileDescriptorOrPath, StrOrBytesPath

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def watch(places: Places) -> None:
    """Replaces it from now on; code that has imported `open` before keeps the old one."""

    def opened(
        original: Callable[..., object], file: FileDescriptorOrPath, mode: str = "r", *args: object, **kwargs: object
    ) -> object:
        if not isinstance(mode, str) or not set(mode) & set("wax+"):
            return original(places.found(file), mode, *args, **kwargs)
        if "x" in mode:
            _refuse_second(places, file)
        return original(places.written(file, keeps="w" not in mode), mode, *args, **kwargs)

    def opened_by_flags(
        original: Callable[..., object],
        path: StrOrBytesPath,
        flags: int,
        *args: object,
        dir_fd: int | None = None,
        **kwargs: object,
    ) -> object:
        path = beside(path, dir_fd)
        if not flags & _WRITING:
            return original(places.found(path), flags, *args, **kwargs)
        if flags & os.O_CREAT and flags & os.O_EXCL:
            _refuse_second(places, path)
        return original(places.written(path, keeps=not flags & os.O_TRUNC), flags, *args, **kwargs)

    show = places.names.shown
    replace(builtins, "open", opened, show)
    io.open = builtins.open  # one function, two names
    replace(os, "open", opened_by_flags, show)
    if sys.version_info < (3, 11):
        _replace_accessor()


def _refuse_second(places: Places, path: object) -> None:
    name = places.names.name(path)
    if name is not None and places.exists(name):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


def _replace_accessor() -> None:
    """Replaces the functions of os that Python 3.10's pathlib has imported."""
    import pathlib

    accessor: object = getattr(pathlib, "_NormalAccessor", None)
    for name in [name for name in vars(accessor or object) if callable(getattr(os, name, None))]:
        setattr(accessor, name, staticmethod(getattr(os, name) if name != "open" else io.open))
