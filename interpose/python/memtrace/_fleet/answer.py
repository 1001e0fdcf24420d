# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""An answer as text for people, or as CSV or JSON for programs."""

import csv
import io
import json
import math
from collections.abc import Callable
from datetime import datetime

from memtrace._fleet import schema
from memtrace._fleet.amounts import amount
from memtrace._fleet.database import Answer
from memtrace._text.messages import translated

Form = Callable[[Answer], str]

_BYTES = ("bytes", "bytes_per_step")  # how the name of a column ends that has bytes
_BETWEEN = "  "
# A spreadsheet would take a text that begins so for a formula (tools/interchange/writers/line_writers.cc).
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def text(answer: Answer) -> str:
    """Returns a table. Integers in columns that are named after bytes are amounts such as 1.50 GiB."""
    if not answer.names:
        return ""
    columns = [_cells(name, [row[i] for row in answer.rows]) for i, name in enumerate(answer.names)]
    lines = [_BETWEEN.join(cells).rstrip() for cells in zip(*columns, strict=True)]
    if not answer.rows:
        lines.append(translated("no rows"))
    return "".join(f"{line}\n" for line in lines)


def comma_separated(answer: Answer) -> str:
    """Returns CSV with a line of names; NULL is empty, lists are JSON.

    An apostrophe comes before a text that a spreadsheet would take for a formula.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    if answer.names:
        writer.writerow(answer.names)
    writer.writerows([_csv_value(value) for value in row] for row in answer.rows)
    return file.getvalue()


def as_json(answer: Answer) -> str:
    """Returns JSON with the columns and their types, and an object for each row."""
    names = _distinct(answer.names)
    document = {
        "schema": schema.NAME,
        "columns": [{"name": name, "type": kind} for name, kind in zip(names, answer.types, strict=True)],
        "rows": [dict(zip(names, map(_json_value, row), strict=True)) for row in answer.rows],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


FORMS: dict[str, Form] = {"text": text, "csv": comma_separated, "json": as_json}


def _cells(name: str, values: list[object]) -> list[str]:
    """Returns the title and the values of a column, padded to one width; numbers are right-aligned."""
    is_amount = name.endswith(_BYTES)
    cells = [_printable(name), *(_text_value(value, is_amount) for value in values)]
    width = max(len(cell) for cell in cells)
    is_number = any(isinstance(value, (int, float)) for value in values)
    return [cell.rjust(width) if is_number else cell.ljust(width) for cell in cells]


def _text_value(value: object, is_amount: bool) -> str:
    if value is None:
        return "-"
    if is_amount and isinstance(value, int) and not isinstance(value, bool):
        return amount(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return _printable(value if isinstance(value, str) else _csv_value(value))


def _printable(value: object) -> str:
    """Escapes characters that would control the terminal: names come from programs."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(value))


def _csv_value(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    is_nested = isinstance(value, (list, tuple, dict))
    if is_nested:
        return json.dumps(_json_value(value), ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


def _json_value(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _json_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _distinct(names: list[str]) -> list[str]:
    """Numbers names that occur twice: a, a_1."""
    found: list[str] = []
    for name in names:
        number = 0
        unique = name
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found
