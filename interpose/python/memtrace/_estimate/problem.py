# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A problem that prevents an estimate, as one sentence and an exit code."""

import importlib
from types import ModuleType

from memtrace._text.say import EXIT_ENVIRONMENT

EXIT_USAGE = 2
EXIT_CONFIG = 3


class ProblemError(Exception):
    """One sentence for the user: what is wrong, where, what to do; `exit_code` is from docs/reference/exit-codes.md."""

    def __init__(self, sentence: str, exit_code: int = EXIT_CONFIG) -> None:
        """Takes the sentence as it is printed after `memtrace: `."""
        super().__init__(sentence)
        self.exit_code = exit_code


def package(name: str, wanted_by: str) -> ModuleType:
    """Imports a package that `wanted_by` needs. Raises ProblemError if it is not installed or cannot be imported."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        raise ProblemError(f"{wanted_by} needs {top} ({error}). Install it beside torch.", EXIT_ENVIRONMENT) from None


def first_line(error: BaseException) -> str:
    """Returns the message of another library's exception, short enough for one sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".")[:300]
