# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""One line on stderr, once a cause: the program's own output is never touched."""

import sys
from typing import NoReturn

# The exit status for "this environment cannot do what was asked" (docs/command_line.md).
EXIT_ENVIRONMENT = 5

_said: set[str] = set()


def say(sentence: str) -> None:
    """Prints `memtrace: sentence` on stderr the first time it is said."""
    if sentence not in _said:
        _said.add(sentence)
        _print(sentence)


def refuse(sentence: str) -> NoReturn:
    """Ends the program before it begins: what was asked for cannot be had, and going on without it would mislead."""
    _print(sentence)
    sys.exit(EXIT_ENVIRONMENT)


def _print(sentence: str) -> None:
    """A sentence may hold the program's names and its exceptions' texts: no terminal is to obey them."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in sentence)
    print(f"memtrace: {safe}", file=sys.stderr, flush=True)
