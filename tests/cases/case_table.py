# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""All rows, by chapters of the corpus's README."""

import card_rows
import checkpoint_rows
import cure_rows
import elsewhere_rows
import growth_rows
import line_rows
import robustness_rows
import verdict_rows
from case_row import Elsewhere, Row

CHAPTERS: dict[str, list[Row]] = {
    "Verdict and cure": verdict_rows.ROWS,
    "Checkpoints, requests that were got over, cures of one block": checkpoint_rows.ROWS,
    "Cures, applied": cure_rows.ROWS,
    "Growth": growth_rows.ROWS,
    "Lines, roles, ledger": line_rows.ROWS,
    "The card": card_rows.ROWS,
    "Robustness": robustness_rows.ROWS,
}
ELSEWHERE: list[Elsewhere] = elsewhere_rows.ROWS


def all_rows() -> list[Row]:
    """Returns the rows of all chapters."""
    return [row for rows in CHAPTERS.values() for row in rows]


def rows_named(part: str) -> list[Row]:
    """Returns the row of this name, or else all whose names contain `part`."""
    exact = [row for row in all_rows() if row.name == part]
    return exact or [row for row in all_rows() if part in row.name]
