# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DuckDB, which writes the table as Parquet and answers SQL about it. It never fetches an extension."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtrace._fleet import schema
from memtrace._fleet.problem import EXIT_UNREADABLE, EXIT_USAGE, ProblemError
from memtrace._text.messages import translated
from memtrace._text.say import EXIT_ENVIRONMENT

if TYPE_CHECKING:
    from types import ModuleType

    from duckdb import DuckDBPyConnection

_REQUIREMENT = '"duckdb>=2,<3"'  # as in pyproject.toml; quoted for a shell
_MOST_OF_A_MESSAGE = 400
_SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,  # else names in the SQL may be variables of this file
}


@dataclass(frozen=True)
class Answer:
    """The result of a statement; one without a result has no columns."""

    names: list[str]
    types: list[str]
    rows: list[tuple[object, ...]]  # values as DuckDB's Python package has them


def duckdb() -> ModuleType:
    """Imports DuckDB. Raises ProblemError if it is not installed."""
    try:
        return importlib.import_module("duckdb")
    except ImportError as error:
        raise ProblemError(
            translated("memtrace fleet needs DuckDB ($0); install it with: pip install $1", error, _REQUIREMENT),
            EXIT_ENVIRONMENT,
        ) from None


def write_table(rows: str, file: str, name: str) -> None:
    """Writes the rows, a line of JSON each, as a Parquet file. Errors call the file `name`."""
    columns = ", ".join(f"{_quoted(column.name)}: {_quoted(column.type)}" for column in schema.COLUMNS)
    read = f"read_json({_quoted(rows)}, format = 'newline_delimited', columns = {{{columns}}})"
    options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{schema: {_quoted(schema.NAME)}}}"
    try:
        _connect().execute(f"COPY (SELECT * FROM {read}) TO {_quoted(file)} ({options})")
    except duckdb().Error as error:
        raise ProblemError(
            translated("cannot write $0 ($1); choose another file with -o", name, _sentence(error)), EXIT_ENVIRONMENT
        ) from None


def ask(sql: str, tables: Sequence[str]) -> Answer:
    """Runs SQL in which the tables, one after another, are `fleet`. Raises ProblemError with DuckDB's message."""
    connection = _connect()
    _open_tables(connection, tables)
    try:
        result = connection.execute(sql)
        described = (result.description if result is not None else None) or []
        rows = result.fetchall() if described else []
    except duckdb().Error as error:
        raise ProblemError(translated("the SQL cannot be run: $0", _sentence(error)), EXIT_USAGE) from None
    return Answer([column[0] for column in described], [str(column[1]) for column in described], rows)


def _connect() -> DuckDBPyConnection:
    connection: DuckDBPyConnection = duckdb().connect(config=_SETTINGS)
    return connection


def _open_tables(connection: DuckDBPyConnection, tables: Sequence[str]) -> None:
    try:
        connection.read_parquet(list(tables), union_by_name=True).create_view("fleet")
    except duckdb().Error as error:
        raise ProblemError(
            translated(
                "cannot read the table $0 ($1); memtrace fleet FOLDER -o OUT writes one, and --from names it",
                " ".join(tables),
                _sentence(error),
            ),
            EXIT_UNREADABLE,
        ) from None


def _quoted(text: str) -> str:
    """Returns the text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _sentence(error: Exception) -> str:
    """Returns DuckDB's message in one line, without the picture of the place in the SQL."""
    message = str(error).split("\n\n")[0]
    return " ".join(message.split()).rstrip(".")[:_MOST_OF_A_MESSAGE]
