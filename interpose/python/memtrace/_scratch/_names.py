# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Two names for a file: the one that the program uses, and the one in the scratch folder that stands for it."""

import os
from pathlib import PurePath
from typing import TypeVar

F = TypeVar("F")  # a path, or whatever else a program gives for a file: the number of an open one, say

# A kernel's, not a user's.
_SYSTEM = ("/dev", "/proc", "/sys")
# Beside what the environment names.
_CACHES = ("~/.cache", "~/.nv", "~/.triton")
_CACHE_VARIABLES = ("HF_HOME", "TORCH_HOME", "TRITON_HOME")
_CACHE_ENDINGS = ("_CACHE", "_CACHE_DIR", "_CACHE_HOME")
# Links that lead to links, before a name is taken as it is.
_LINKS = 8


class Names:
    """Maps between them. Names are absolute, and no folder of theirs is a link."""

    def __init__(self, folder: str) -> None:
        """`folder` is where the scratch begins: `folder/home/me` stands for `/home/me`."""
        self._folder = os.path.realpath(folder)
        self._left_alone = tuple(os.path.realpath(os.path.expanduser(path)) for path in (*_SYSTEM, *_caches()))

    def name(self, path: object) -> str | None:
        """Gives the name of what the program calls `path`; None if it stays where it is.

        That is: no path at all, the kernel's files, and caches, which libraries fill by themselves and which C reads.
        """
        if isinstance(path, int) or not isinstance(path, (str, bytes, os.PathLike)):
            return None
        text = os.fsdecode(path)
        if not text or "\0" in text:
            return None
        folder, last = os.path.split(self.shown(os.path.abspath(text)))
        name = os.path.join(self._without_links(folder), last)
        return None if any(_is_within(name, folder) for folder in self._left_alone) else name

    def above(self, name: str) -> str:
        """Gives the name in the scratch folder."""
        return self._folder + name.rstrip("/")

    def shown(self, path: str) -> str:
        """Gives the name for one in the scratch folder; every other as it is."""
        return path[len(self._folder) :] or "/" if _is_within(path, self._folder) else path

    def without_links(self, name: str) -> str:
        """Follows a link that the program made in the scratch folder."""
        return self.shown(os.path.realpath(self.above(name)))

    def _without_links(self, folder: str) -> str:
        """Links of the user's folders, and those that the program made since."""
        for _ in range(_LINKS):
            found = self.without_links(self.shown(os.path.realpath(folder)))
            if found == folder:
                break
            folder = found
        return folder


def beside(path: F, dir_fd: int | None) -> F | str | bytes:
    """Gives a path that says where it is, of one that counts from an open folder."""
    if dir_fd is None or isinstance(path, int):
        return path
    folder = os.readlink(f"/proc/self/fd/{dir_fd}")
    return os.path.join(os.fsencode(folder) if isinstance(path, bytes) else folder, path)  # type: ignore[call-overload, no-any-return]


def _caches() -> list[str]:
    named = [
        value
        for variable, value in os.environ.items()
        if variable in _CACHE_VARIABLES or variable.endswith(_CACHE_ENDINGS)
    ]
    absolute = (value for value in named if len(PurePath(value).parts) > 1 and os.path.isabs(value))
    return [cache for cache in (*_CACHES, *absolute) if not _holds_users(cache)]


def _holds_users(cache: str) -> bool:
    """Tells whether it is no cache alone: the working folder, or the home folder, is in it."""
    folder = os.path.realpath(os.path.expanduser(cache))
    return any(_is_within(os.path.realpath(path), folder) for path in (_working_folder(), os.path.expanduser("~")))


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody removed it
        return os.sep


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
