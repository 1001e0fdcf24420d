# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m memtrace._fleet COMMAND ARGUMENTS`: the part of `memtrace fleet` that needs DuckDB.

The program memtrace calls it with arguments that it has checked. Exit codes are those of docs/reference/exit-codes.md:
2 for SQL that cannot be right, 3 for a table that cannot be read, 5 if DuckDB is missing or a file cannot be written.
"""

import sys
from collections.abc import Callable

from memtrace._fleet import database, questions
from memtrace._fleet.answer import FORMS, Form
from memtrace._fleet.output import print_out
from memtrace._fleet.problem import ProblemError
from memtrace._text.say import say


def _check() -> None:
    database.duckdb()


def _write(rows: str, file: str, name: str) -> None:
    database.write_table(rows, file, name)


def _query(form: str, sql: str, *tables: str) -> None:
    write: Form = FORMS[form]
    print_out(write(database.ask(questions.sql_of(sql), tables)))


def _show(question: str) -> None:
    print_out(questions.text_of(question))


def _list() -> None:
    print_out(questions.listing())


_COMMANDS: dict[str, Callable[..., None]] = {
    "check": _check,
    "list": _list,
    "query": _query,
    "show": _show,
    "write": _write,
}


def main(words: list[str]) -> int:
    """Runs a command. Returns the exit code."""
    try:
        _COMMANDS[words[0]](*words[1:])
    except ProblemError as problem:
        say(str(problem))
        return problem.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
