# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A problem with a table, as one sentence and an exit code."""

EXIT_USAGE = 2
EXIT_UNREADABLE = 3


class ProblemError(Exception):
    """One sentence for the user: what is wrong, where, what to do; `exit_code` is from docs/reference/exit-codes.md."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        """Takes the sentence as it is printed after `memtrace: `."""
        super().__init__(sentence)
        self.exit_code = exit_code
