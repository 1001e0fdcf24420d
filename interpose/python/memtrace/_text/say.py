# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints one line on stderr for each cause; the program's own output is never changed."""

import sys
from typing import NoReturn

# The exit status for "this environment cannot do what was asked" (docs/reference/exit-codes.md).
EXIT_ENVIRONMENT = 5
EXIT_USAGE = 2  # what was asked cannot be right

_said: set[str] = set()


def say(sentence: str) -> None:
    """Prints `memtrace: sentence` on stderr, unless it has been printed before."""
    if sentence not in _said:
        _said.add(sentence)
        _print(sentence)


def refuse(sentence: str, status: int = EXIT_ENVIRONMENT) -> NoReturn:
    """Ends the program before it begins, because it would mislead without what was requested."""
    _print(sentence)
    sys.exit(status)


def _print(sentence: str) -> None:
    """Escapes characters that would control the terminal, because a sentence may contain text of the program."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in sentence)
    # print makes two writes, between which another rank's line would come.
    sys.stderr.write(f"memtrace: {safe}\n")
    sys.stderr.flush()
