# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Two names for a file: the program's, and the one in the scratch folder that stands for it."""

import os
from pathlib import PurePath
from typing import TypeVar

F = TypeVar("F")  # a path, or another value that stands for a file, such as a descriptor

# The kernel's folders, which hold no user's files.
_SYSTEM = ("/dev", "/proc", "/sys")
# Cache folders beside those in the environment.
_CACHES = ("~/.cache", "~/.nv", "~/.triton")
_CACHE_VARIABLES = ("HF_HOME", "TORCH_HOME", "TRITON_HOME")
_CACHE_ENDINGS = ("_CACHE", "_CACHE_DIR", "_CACHE_HOME")
# The most links that are followed before a name is used as it is.
_LINKS = 8


class Names:
    """Maps between them. Names are absolute, and none of their folders is a link."""

    def __init__(self, folder: str) -> None:
        """`folder` is the root of the scratch: `folder/home/me` stands for `/home/me`."""
        self._folder = os.path.realpath(folder)
        self._left_alone = tuple(os.path.realpath(os.path.expanduser(path)) for path in (*_SYSTEM, *_caches()))

    def name(self, path: object) -> str | None:
        """Returns the name for the program's `path`; None if it is not replaced.

        Not replaced are values that are not paths, the kernel's files, and caches, which libraries fill themselves and
        C reads.
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
        """Returns the name in the scratch folder."""
        return self._folder + name.rstrip("/")

    def shown(self, path: str) -> str:
        """Returns the program's name for a path in the scratch folder; other paths as they are."""
        return path[len(self._folder) :] or "/" if _is_within(path, self._folder) else path

    def without_links(self, name: str) -> str:
        """Follows a link that the program made in the scratch folder."""
        return self.shown(os.path.realpath(self.above(name)))

    def _without_links(self, folder: str) -> str:
        """Follows links of the user's folders, and those that the program has made since."""
        for _ in range(_LINKS):
            found = self.without_links(self.shown(os.path.realpath(folder)))
            if found == folder:
                break
            folder = found
        return folder


def beside(path: F, dir_fd: int | None) -> F | str | bytes:
    """Returns a full path for one that is relative to an open folder."""
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
    """True if it is not only a cache: the working folder or the home folder is in it."""
    folder = os.path.realpath(os.path.expanduser(cache))
    return any(_is_within(os.path.realpath(path), folder) for path in (_working_folder(), os.path.expanduser("~")))


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed
        return os.sep


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
