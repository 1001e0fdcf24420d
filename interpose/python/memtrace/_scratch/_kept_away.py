# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The files that a trial kept away from the user's folders."""

_FIRST = 5


class KeptAway:
    """Counts in this process."""

    def __init__(self, ignored: str) -> None:
        """Names that begin with `ignored` are not files of the user's."""
        self._ignored = ignored
        self._first: list[str] = []
        self.files: set[str] = set()  # opened for writing, moved or deleted
        self.saves = 0  # saves of tensors that wrote nothing

    def file(self, name: str) -> None:
        """Counts a file; the same name counts once."""
        if not name.startswith(self._ignored) and name not in self.files:
            self.files.add(name)
            self._note(name)

    def save(self, name: str) -> None:
        """Counts a checkpoint that was not written, each time; the name is "" if it has none."""
        self.saves += 1
        self._note(name)

    def first(self) -> list[str]:
        """Returns the names of the first few, of both kinds."""
        return list(self._first)

    def _note(self, name: str) -> None:
        if name and name not in self._first and len(self._first) < _FIRST:
            self._first.append(name)
