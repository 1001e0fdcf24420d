# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lists folders as the program sees them: the user's files that it did not delete, and those in the scratch folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from memtrace._scratch._places import Places

if TYPE_CHECKING:
    from _typeshed import StrOrBytesPath


def names_in(places: Places, name: str) -> list[str]:
    """Lists the program's entries in that folder; nothing if it is not a folder."""
    names = set()
    for folder in _layers(places, name):
        names.update(os.listdir(folder))
    return sorted(last for last in names if places.exists(os.path.join(name, last)))


def listdir(places: Places, original: Callable[..., object], path: StrOrBytesPath | None) -> object:
    """Answers os.listdir."""
    name = None if path is None else places.names.name(path)
    if name is None or not _layers(places, name):
        return original(path if name is None else places.found(path))
    names = names_in(places, name)
    return [os.fsencode(last) for last in names] if isinstance(path, bytes) else names


def scandir(places: Places, original: Callable[..., object], path: StrOrBytesPath | None) -> object:
    """Answers os.scandir."""
    name = None if path is None else places.names.name(path)
    if name is None or not _layers(places, name):
        return original(path if name is None else places.found(path))
    return Listing(_entries(places, name, path))  # type: ignore[arg-type]  # there is a name


def _layers(places: Places, name: str) -> list[str]:
    """Returns the folders that are seen as one, the upper first."""
    above = places.names.above(name)
    below = [name] if os.path.isdir(name) and not places.is_deleted(name) else []
    return [*([above] if os.path.isdir(above) else []), *below]


def _entries(places: Places, name: str, path: StrOrBytesPath) -> list[Entry]:
    found: dict[str, Entry] = {}
    for folder in _layers(places, name):
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name not in found and places.exists(os.path.join(name, entry.name)):
                    found[entry.name] = Entry(path, entry)
    return list(found.values())


class Entry:
    """An os.DirEntry under the program's name for its folder."""

    def __init__(self, folder: StrOrBytesPath, entry: os.DirEntry[str]) -> None:
        """Sets the name and path; everything else is the entry's own."""
        self._entry = entry
        text = os.fspath(folder)
        self.name: str | bytes = os.fsencode(entry.name) if isinstance(text, bytes) else entry.name
        self.path: str | bytes = os.path.join(text, self.name)  # type: ignore[arg-type]  # both are text, or bytes

    def __fspath__(self) -> str | bytes:
        return self.path

    def __getattr__(self, name: str) -> object:
        return getattr(self._entry, name)

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


class Listing:
    """The result of os.scandir: an iterator that can be closed."""

    def __init__(self, entries: list[Entry]) -> None:
        """All entries are known already."""
        self._entries: Iterator[Entry] = iter(entries)

    def __iter__(self) -> Listing:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Listing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leaves no entries."""
        self._entries = iter(())
