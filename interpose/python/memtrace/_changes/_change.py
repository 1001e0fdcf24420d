# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A change that a trial makes in the program, and the number of places where it was made."""


class Change:
    """Counts places; a change that was made nowhere is no remedy."""

    def __init__(self, name: str, value: str = "") -> None:
        """Takes the name and value from MEMTRACE_FIT_CHANGES."""
        self.name = name
        self.value = value
        self.places = 0

    def made(self, places: int = 1) -> None:
        """Counts places where it took effect; a negative number takes back."""
        self.places += places
