# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The table "row, before, after": the first lines of each report at the tree of the corpus, and now."""

import json
from pathlib import Path

from case_row import Row, faults
from case_run import command_line, seen
from case_table import CHAPTERS, ELSEWHERE, all_rows

BEFORE = Path(__file__).with_name("before.json")
LINES = 3


def first_lines(text: str) -> list[str]:
    """Returns the first lines of the verdict: a report has a header before it, the answer of `fit` has none."""
    paragraphs = [part.splitlines() for part in text.split("\n\n") if part.strip()]
    # A long path has a line of the header to itself.
    is_headed = len(paragraphs) > 1 and any(" · " in line for line in paragraphs[0][:3])
    return paragraphs[is_headed][:LINES] if paragraphs else []


def summary(folder: Path) -> dict[str, dict[str, object]]:
    """Returns the first lines, exit code and correctness of each row's report in the folder."""
    return {
        row.name: _summary(row, folder / row.name) for row in all_rows() if (folder / row.name / "report.json").exists()
    }


def table(before: dict[str, dict[str, object]], after: dict[str, dict[str, object]]) -> str:
    """Returns the table as Markdown, chapter by chapter."""
    parts = []
    for chapter, rows in CHAPTERS.items():
        parts.append(f"## {chapter}\n")
        for row in rows:
            parts.append(f"### `{row.name}`\n\n{_of(row)}{row.right}\n")
            parts.append(f"    {command_line(row).replace(str(Path.home()), '~')}\n")
            parts += [_told("Before", before.get(row.name)), _told("Now", after.get(row.name))]
    parts.append("## Judged elsewhere\n\n| what | right | where, or why not |\n|---|---|---|")
    parts += [f"| `{row.script}` | {row.right} | {f'`{row.test}`' if row.test else row.reason} |" for row in ELSEWHERE]
    return "\n".join(parts) + "\n"


def _summary(row: Row, folder: Path) -> dict[str, object]:
    told = seen(folder)
    return {
        "lines": first_lines(told.text),
        "status": told.status,
        "wrong": len(faults(row, told)),
        "of": len(row.expects),
    }


def _of(row: Row) -> str:
    return f"({row.reported}) " if row.reported else ""


def _told(when: str, told: dict[str, object] | None) -> str:
    if told is None:
        return f"{when}: not run.\n"
    wrong = told["wrong"]
    verdict = f"{wrong} of {told['of']} expectations fail" if wrong else "right"
    lines = "\n".join(told["lines"]) or "(no report)"  # type: ignore[arg-type]
    return f"{when} (exit code {told['status']}): {verdict}\n\n```\n{lines}\n```\n"


def kept_before() -> dict[str, dict[str, object]]:
    """Returns the stored summary of the corpus's tree."""
    return dict(json.loads(BEFORE.read_text())) if BEFORE.exists() else {}
