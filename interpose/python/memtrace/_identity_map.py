# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about objects of the user's program."""

import weakref
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class IdentityMap(Generic[V]):
    """A value by object, by who the object is: a user's class may not be hashable, or compare by force.

    Holds objects weakly and forgets those that are gone. Thread rule: any thread.
    """

    def __init__(self) -> None:
        """Knows nobody."""
        # By id. For whoever cannot afford a call: an entry counts if its reference still gives the thing.
        self.entries: dict[int, tuple[weakref.ref[Any], V]] = {}

    def get(self, thing: Any) -> V | None:
        """Gives the value of `thing`; None if it has none."""
        entry = self.entries.get(id(thing))
        return entry[1] if entry is not None and entry[0]() is thing else None

    def set(self, thing: Any, value: V) -> None:
        """Gives `thing` the value. Raises TypeError if it cannot be referred to weakly."""
        key, entries = id(thing), self.entries

        def forget(reference: "weakref.ref[Any]") -> None:
            entry = entries.get(key)
            if entry is not None and entry[0] is reference:
                entries.pop(key, None)

        entries[key] = (weakref.ref(thing, forget), value)

    def items(self) -> list[tuple[Any, V]]:
        """Lists those that are alive, with their values."""
        alive = [(reference(), value) for reference, value in list(self.entries.values())]
        return [(thing, value) for thing, value in alive if thing is not None]
