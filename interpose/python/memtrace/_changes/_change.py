# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A change that a trial makes in the program, and in how many places it was made."""


class Change:
    """Counts; a change that was made nowhere is no remedy."""

    def __init__(self, name: str, value: str = "") -> None:
        """What MEMTRACE_FIT_CHANGES says of it."""
        self.name = name
        self.value = value
        self.places = 0

    def made(self, places: int = 1) -> None:
        """It took effect there; a negative number takes back."""
        self.places += places
