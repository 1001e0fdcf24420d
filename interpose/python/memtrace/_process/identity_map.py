# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Maps objects of the user's program to facts."""

import functools
import weakref
from typing import Generic, TypeVar

from memtrace._core.c_abi import core

K = TypeVar("K")
V = TypeVar("V")


class IdentityMap(Generic[K, V]):
    """A value for each object, by identity, because a user's class may not be hashable or may define equality.

    Holds objects weakly and forgets those that are gone. Thread rule: any thread.
    """

    def __init__(self, by_id: dict[int, int] | None = None) -> None:
        """Starts empty. Removes the id of an object that is gone from `by_id` before another object can get it."""
        self._by_id = by_id if by_id is not None else {}
        self._entries: dict[int, tuple[weakref.ref[K], V]] = {}
        # This is not a Python function, in which an exception of a signal handler would be lost.
        self._forget = core().forget

    def get(self, thing: K) -> V | None:
        """Returns the value of `thing`; None if it has none."""
        entry = self._entries.get(id(thing))
        return entry[1] if entry is not None and entry[0]() is thing else None

    def set(self, thing: K, value: V) -> None:
        """Stores the value of `thing`. Raises TypeError if it does not support weak references."""
        key = id(thing)
        forget = functools.partial(self._forget, self._entries, key, self._by_id)
        self._entries[key] = (weakref.ref(thing, forget), value)

    def pop(self, thing: K) -> V | None:
        """Forgets `thing` and its weak reference. Returns its value."""
        value = self.get(thing)
        self._entries.pop(id(thing), None)
        return value

    def items(self) -> list[tuple[K, V]]:
        """Lists those that are alive, with their values."""
        alive = [(reference(), value) for reference, value in self.references()]
        return [(thing, value) for thing, value in alive if thing is not None]

    def references(self) -> "list[tuple[weakref.ref[K], V]]":
        """Lists references to those that are alive now, with their values."""
        return list(self._entries.values())
