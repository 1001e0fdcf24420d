# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""One line on stderr, once a cause: the program's own output is never touched."""

import sys

_said: set[str] = set()


def say(sentence: str) -> None:
    """Prints `memtrace: sentence` on stderr the first time it is said."""
    if sentence not in _said:
        _said.add(sentence)
        print(f"memtrace: {sentence}", file=sys.stderr, flush=True)
