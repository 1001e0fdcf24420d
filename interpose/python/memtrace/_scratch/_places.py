# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Where a file of the program's is found, made or written: in the user's folders, or above them in the scratch."""

import errno
import os
import shutil

from memtrace._scratch._kept_away import KeptAway
from memtrace._scratch._names import F, Names

# A larger file that is written to in part begins empty: a trial needs no contents.
_COPIED = 64 << 20  # bytes


class Places:
    """What the program sees: the scratch folder over the user's own, without what it deleted.

    Thread rule: as files are, from any thread; only within a replaced function (_replacing.py).
    """

    def __init__(self, names: Names, kept: KeptAway) -> None:
        """Nothing is deleted yet. What this process deletes is deleted for those that it forks, not for others."""
        self.names = names
        self.kept = kept
        self._deleted: set[str] = set()

    def is_above(self, name: str) -> bool:
        """Tells whether the scratch folder has something of that name."""
        return os.path.lexists(self.names.above(name))

    def is_below(self, name: str) -> bool:
        """Tells whether the user's folders have something of that name that the program did not delete."""
        return os.path.lexists(name) and not self.is_deleted(name)

    def is_deleted(self, name: str) -> bool:
        """Tells whether it, or a folder that it was in, is gone for the program."""
        while name not in self._deleted:
            folder = os.path.dirname(name)
            if folder == name:
                return False
            name = folder
        return True

    def exists(self, name: str) -> bool:
        """Tells whether the program has something of that name."""
        return self.is_above(name) or self.is_below(name)

    def found(self, path: F) -> F | str | bytes:
        """Gives where to read it."""
        name = self.names.name(path)
        if name is None:
            return path
        if self.is_above(name) or self.is_deleted(name):
            return self._like(path, self.names.above(name))
        return self._below(path, name)

    def made(self, path: object, name: str) -> str | bytes:
        """Gives where to make it, in a folder that there is then. Raises FileNotFoundError or FileExistsError."""
        if self.exists(name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        return self._like(path, self.in_its_folder(path, name))

    def written(self, path: F, keeps: bool, is_counted: bool = True) -> F | str | bytes:
        """Gives where to write to it; `keeps`: what is in it already. Raises FileNotFoundError without its folder."""
        name = self.names.name(path)
        if name is None:
            return path
        if os.path.islink(self.names.above(name)):
            name = self.names.without_links(name)
        if not self.is_above(name):
            is_below = self.is_below(name)
            if is_below and not os.path.isfile(name):  # a folder, a pipe
                return self._below(path, name)
            above = self.in_its_folder(path, name)
            if keeps and is_below:
                self.copy(name, above)
        if is_counted and not os.path.isdir(self.names.above(name)):  # nameless files ask for a folder
            self.kept.file(name)
        return self._like(path, self.names.above(name))

    def copy(self, name: str, above: str) -> None:
        """Puts a copy of the user's file there; of a large one, a hole of its size."""
        size = os.path.getsize(name)
        if size <= _COPIED:
            shutil.copy(name, above)
        else:
            with open(above, "wb") as hole:
                hole.truncate(size)

    def delete(self, name: str) -> None:
        """The user's file stays; the program sees it no more."""
        if os.path.lexists(name):
            self._deleted = {gone for gone in self._deleted if not gone.startswith(name + "/")} | {name}
            self.kept.file(name)

    def in_its_folder(self, path: object, name: str) -> str:
        """Gives its name in the scratch folder, in a folder that there is then. Raises as `made` does."""
        folder = os.path.dirname(name)
        if not os.path.isdir(self.found(folder)):
            missing = errno.ENOTDIR if self.exists(folder) else errno.ENOENT
            raise OSError(missing, os.strerror(missing), path)
        os.makedirs(self.names.above(folder), exist_ok=True)
        return self.names.above(name)

    def _below(self, path: F, name: str) -> F | str | bytes:
        """The program's own words for it, unless they lead into the scratch folder."""
        text = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]  # it has a name
        return path if self.names.shown(text) == text else self._like(path, name)

    @staticmethod
    def _like(path: object, text: str) -> str | bytes:
        return os.fsencode(text) if isinstance(path, bytes) else text
