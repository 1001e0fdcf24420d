# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of symbols in this folder, for the generators and for cmake/check_symbols.py.

A table has one function a line: its name, and the table's note about it, if any. A line that begins with # is
a comment.

  exports/SONAME.txt                     exported functions; a number is the version of CUDA that added it
  exports/SONAME.added-VERSION.txt       what this version of CUDA exports beyond the oldest one
  LIBRARY.inert.txt                      functions that stand for computation, and how to call them (generate_stubs.py)
  LIBRARY.partial.txt                    functions that our own code answers in part, and what it leaves out

The sonames of a library (libcudart.so.12 and libcudart.so.13) share its code, so the last two are for all of them.
"""

import re
from collections.abc import Iterable
from pathlib import Path


def rows(table: Path) -> list[tuple[str, str]]:
    """Return name and note of each function of a table, "" for no note."""
    lines = [line for line in table.read_text().splitlines() if line.strip() and not line.startswith("#")]
    parted = [line.split(maxsplit=1) for line in lines]
    return [(name, note[0].strip() if note else "") for name, *note in parted]


def notes(table: Path) -> dict[str, str]:
    """Return the note of each function of LIBRARY.partial.txt; none if there is no such table."""
    found = dict(rows(table)) if table.exists() else {}
    if silent := [name for name, note in found.items() if not note]:
        raise SystemExit(f"{table.name}: nothing is said about {', '.join(silent)}")
    return found


def names(tables: Iterable[Path]) -> set[str]:
    """Return the functions of all those of the tables that exist."""
    return {name for table in tables if table.exists() for name, _ in rows(table)}


def library_of(soname: str) -> str:
    """Return the name that all sonames of a library share: libcudart of libcudart.so.13."""
    return soname.split(".so.")[0]


def without_version(name: str) -> str:
    """Return the name of a function without the number of its version."""
    return re.sub(r"_v\d$", "", name)
