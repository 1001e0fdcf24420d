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
        print(f"memtrace: {sentence}", file=sys.stderr, flush=True)


def refuse(sentence: str) -> NoReturn:
    """Ends the program before it begins: what was asked for cannot be had, and going on without it would mislead."""
    print(f"memtrace: {sentence}", file=sys.stderr, flush=True)
    sys.exit(EXIT_ENVIRONMENT)
