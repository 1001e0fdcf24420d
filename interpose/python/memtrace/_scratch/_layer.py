# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names and places of files in a trial with a layer of the system (tools/fit/files): both stay as they are."""

import os

from memtrace._scratch._kept_away import KeptAway
from memtrace._scratch._names import F, Names
from memtrace._scratch._places import Places


class LayerNames(Names):
    """In the layer, files have the names that the program uses."""

    def __init__(self) -> None:
        """Leaves out caches, which are shared with other programs."""
        super().__init__(os.sep)

    def above(self, name: str) -> str:
        """Returns the name itself."""
        return name

    def shown(self, path: str) -> str:
        """Returns the path itself."""
        return path

    def without_links(self, name: str) -> str:
        """Follows links."""
        return os.path.realpath(name)


class LayerPlaces(Places):
    """The system finds, writes and counts files itself; only checkpoints are replaced."""

    def found(self, path: F) -> F:
        """Returns the path itself for reading."""
        return path

    def written(self, path: F, keeps: bool, is_counted: bool = True) -> F:
        """Returns the path itself for writing."""
        return path


class ListedSaves(KeptAway):
    """Also writes the names of saved checkpoints into a file, one a line, because they are files in the layer."""

    def __init__(self, path: str) -> None:
        """`path` is that file, which the processes of a trial share."""
        super().__init__(ignored=os.sep)
        self.path = path

    def save(self, name: str) -> None:
        """Counts it, and adds its name to the list."""
        super().save(name)
        if name and "\n" not in name:
            with open(self.path, "a") as listed:
                listed.write(name + "\n")
