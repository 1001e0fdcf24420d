# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The standard output, which may be full or closed."""

import os
import sys

from memtrace._fleet.problem import ProblemError
from memtrace._text.messages import translated
from memtrace._text.say import EXIT_ENVIRONMENT


def print_out(text: str) -> None:
    """Prints a result. Raises ProblemError if it cannot be written."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it again at the end
        raise ProblemError(
            translated(
                "the result could not be written to stdout ($0); free some space, or write it elsewhere",
                error.strerror or "",
            ),
            EXIT_ENVIRONMENT,
        ) from None
