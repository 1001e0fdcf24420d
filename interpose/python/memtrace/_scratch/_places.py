# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the place of a program's file for reading or writing: in the user's folders, or in the scratch above them."""

import errno
import os
import shutil

from memtrace._scratch._kept_away import KeptAway
from memtrace._scratch._names import F, Names

# A larger file that is partly rewritten begins empty, because a trial needs no contents.
_COPIED = 64 << 20  # bytes


class Places:
    """The program's view: the scratch folder over the user's own, without deleted files.

    Thread rule: like files, any thread; but only within a replaced function (_replacing.py).
    """

    def __init__(self, names: Names, kept: KeptAway) -> None:
        """Starts without deletions. Those of this process also apply to processes that it forks, but not to others."""
        self.names = names
        self.kept = kept
        self._deleted: set[str] = set()

    def is_above(self, name: str) -> bool:
        """True if the scratch folder has an entry of that name."""
        return os.path.lexists(self.names.above(name))

    def is_below(self, name: str) -> bool:
        """True if the user's folders have an entry of that name that the program did not delete."""
        return os.path.lexists(name) and not self.is_deleted(name)

    def is_deleted(self, name: str) -> bool:
        """True if the program has deleted it, or a folder that it was in."""
        while name not in self._deleted:
            folder = os.path.dirname(name)
            if folder == name:
                return False
            name = folder
        return True

    def exists(self, name: str) -> bool:
        """True if the program sees an entry of that name."""
        return self.is_above(name) or self.is_below(name)

    def found(self, path: F) -> F | str | bytes:
        """Returns the path to read."""
        name = self.names.name(path)
        if name is None:
            return path
        if self.is_above(name) or self.is_deleted(name):
            return self._like(path, self.names.above(name))
        return self._below(path, name)

    def made(self, path: object, name: str) -> str | bytes:
        """Returns the path to make it, whose folder then exists. Raises FileNotFoundError or FileExistsError."""
        if self.exists(name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        return self._like(path, self.path_in_made_folder(path, name))

    def written(self, path: F, keeps: bool, is_counted: bool = True) -> F | str | bytes:
        """Returns the path to write, with old contents if `keeps`. Raises FileNotFoundError without its folder."""
        name = self.names.name(path)
        if name is None:
            return path
        if os.path.islink(self.names.above(name)):
            name = self.names.without_links(name)
        if not self.is_above(name):
            is_below = self.is_below(name)
            if is_below and not os.path.isfile(name):  # a folder, a pipe
                return self._below(path, name)
            above = self.path_in_made_folder(path, name)
            if keeps and is_below:
                self.copy(name, above)
        if is_counted and not os.path.isdir(self.names.above(name)):  # nameless files use a folder's name
            self.kept.file(name)
        return self._like(path, self.names.above(name))

    def copy(self, name: str, above: str) -> None:
        """Copies the user's file there; of a large one, makes a hole of its size."""
        size = os.path.getsize(name)
        if size <= _COPIED:
            shutil.copy(name, above)
        else:
            with open(above, "wb") as hole:
                hole.truncate(size)

    def delete(self, name: str) -> None:
        """Hides the user's file from the program; the file stays."""
        if os.path.lexists(name):
            self._deleted = {gone for gone in self._deleted if not gone.startswith(name + "/")} | {name}
            self.kept.file(name)

    def path_in_made_folder(self, path: object, name: str) -> str:
        """Returns its path in the scratch folder, and makes that folder. Raises as `made` does."""
        folder = os.path.dirname(name)
        if not os.path.isdir(self.found(folder)):
            missing = errno.ENOTDIR if self.exists(folder) else errno.ENOENT
            raise OSError(missing, os.strerror(missing), path)
        os.makedirs(self.names.above(folder), exist_ok=True)
        return self.names.above(name)

    def _below(self, path: F, name: str) -> F | str | bytes:
        """Returns the program's own path, unless it leads into the scratch folder."""
        text = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]  # it has a name
        return path if self.names.shown(text) == text else self._like(path, name)

    @staticmethod
    def _like(path: object, text: str) -> str | bytes:
        return os.fsencode(text) if isinstance(path, bytes) else text
