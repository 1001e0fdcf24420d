# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about objects of the user's program."""

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class IdentityMap(Generic[V]):
    """A value by object, by who the object is: a user's class may not be hashable, or compare by force.

    Holds objects weakly and forgets those that are gone. Thread rule: any thread.
    """

    def __init__(self, forgotten: Callable[[int], object] | None = None) -> None:
        """Knows nobody. `forgotten` is called with the id of whoever is gone, before another can have it."""
        self._forgotten = forgotten
        self._entries: dict[int, tuple[weakref.ref[Any], V]] = {}

    def get(self, thing: Any) -> V | None:
        """Gives the value of `thing`; None if it has none."""
        entry = self._entries.get(id(thing))
        return entry[1] if entry is not None and entry[0]() is thing else None

    def set(self, thing: Any, value: V) -> None:
        """Gives `thing` the value. Raises TypeError if it cannot be referred to weakly."""
        key, entries, forgotten = id(thing), self._entries, self._forgotten

        def forget(reference: "weakref.ref[Any]") -> None:
            entry = entries.get(key)
            if entry is not None and entry[0] is reference:
                entries.pop(key, None)
                if forgotten is not None:
                    forgotten(key)

        entries[key] = (weakref.ref(thing, forget), value)

    def pop(self, thing: Any) -> V | None:
        """Forgets `thing` and refers to it no longer; gives its value."""
        value = self.get(thing)
        self._entries.pop(id(thing), None)
        return value

    def items(self) -> list[tuple[Any, V]]:
        """Lists those that are alive, with their values."""
        alive = [(reference(), value) for reference, value in self.references()]
        return [(thing, value) for thing, value in alive if thing is not None]

    def references(self) -> "list[tuple[weakref.ref[Any], V]]":
        """Lists references to those that are alive now, with their values."""
        return list(self._entries.values())
