# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names and places of files in a trial whose files lie in a layer of the system's (tools/fit/files): as they are."""

import os

from memtrace._scratch._kept_away import KeptAway
from memtrace._scratch._names import F, Names
from memtrace._scratch._places import Places


class LayerNames(Names):
    """The layer has the names that the program uses."""

    def __init__(self) -> None:
        """Caches have none: they are shared with other programs."""
        super().__init__(os.sep)

    def above(self, name: str) -> str:
        """Gives the name itself."""
        return name

    def shown(self, path: str) -> str:
        """Gives the path itself."""
        return path

    def without_links(self, name: str) -> str:
        """Follows links."""
        return os.path.realpath(name)


class LayerPlaces(Places):
    """The system finds, writes and counts files by itself; only checkpoints are answered."""

    def found(self, path: F) -> F:
        """Gives where to read it: there."""
        return path

    def written(self, path: F, keeps: bool, is_counted: bool = True) -> F:
        """Gives where to write it: there."""
        return path


class ListedSaves(KeptAway):
    """Also writes the names of saved checkpoints into a file, one a line: they lie in the layer as files."""

    def __init__(self, path: str) -> None:
        """`path` is of that file, which the processes of a trial share."""
        super().__init__(ignored=os.sep)
        self._path = path

    def save(self, name: str) -> None:
        """As any, and in the list."""
        super().save(name)
        if name and "\n" not in name:
            with open(self._path, "a") as listed:
                listed.write(name + "\n")
