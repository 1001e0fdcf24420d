# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A change that a trial makes in the program, and the number of places where it was made."""

import json
from collections.abc import Callable


class Change:
    """Counts places; a change that was made nowhere is no remedy."""

    def __init__(self, name: str, value: str = "") -> None:
        """Takes the name and value from MEMTRACE_FIT_CHANGES."""
        self.name = name
        self.value = value
        self.places = 0
        self.at_made: list[Callable[[], object]] = []  # called where it takes effect
        self.at_argument: list[Callable[[object, str, object], object]] = []  # called with what `is_argument` gets
        self._found = 0
        self._target = ""
        self._first = ""

    def degree(self, otherwise: int | None = None) -> int | None:
        """Returns the value as a number, `otherwise` if there is none. Degree 0 only counts what could be changed."""
        return int(self.value) if self.value.isdecimal() else otherwise

    @property
    def only_looks(self) -> bool:
        """True if the change is to count places, but to change none."""
        return self.degree() == 0

    def found_and_made(self, target: str = "", first: str = "") -> bool:
        """Counts a place that could be changed. True if the caller is to change it, which is counted as well."""
        self.found(1, target, first)
        self.made(0 if self.only_looks else 1)
        return not self.only_looks

    def found(self, of: int = 1, target: str = "", first: str = "") -> None:
        """Counts places that could be changed.

        `target` names their class or function, and `first` the first place: a path of the model, or a line.
        """
        self._found += of
        if of > 0 and not (self._target or self._first):
            self._target, self._first = target, first

    def made(self, places: int = 1) -> None:
        """Counts places where it took effect; a negative number takes back."""
        self.places += places
        if places > 0:
            self.made_again()

    def made_again(self) -> None:
        """Notes that it took effect where it is counted already, maybe by another call."""
        for look in self.at_made:
            look()

    def is_argument(self, made: object, name: str, value: object) -> None:
        """Notes that the program would make a part of the change by giving `value` to the constructor of `made`."""
        for look in self.at_argument:
            look(made, name, value)

    def facts(self) -> str:
        """Returns JSON: the places changed, those that could be, the class of the first, and where it is."""
        of = max(self._found, self.places)
        told = {"places": self.places, "of": of, "target": self._target, "first": self._first}
        return json.dumps(told, separators=(",", ":"))
