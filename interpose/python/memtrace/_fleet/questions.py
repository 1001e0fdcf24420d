# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The questions that come with memtrace, each a file of SQL that DuckDB and Spark both run."""

import difflib
import re
from pathlib import Path

from memtrace._fleet.problem import EXIT_USAGE, ProblemError
from memtrace._text.messages import marked, message_of, translated

FOLDER = Path(__file__).parent / "sql"
QUESTIONS = {
    "waste": marked("Which jobs waste most reserved memory?"),
    "out-of-memory": marked("Which jobs ran out of memory, and why?"),
    "growth": marked("How did the memory of a script grow from version to version?"),
    "problems": marked("Which traces could not be read completely, and why?"),
}
_NAME = re.compile(r"[\w-]+")


def sql_of(text: str) -> str:
    """Returns the SQL of a question, or `text` if it is SQL itself. Raises ProblemError for an unknown name."""
    return text_of(text) if _NAME.fullmatch(text) else text


def text_of(name: str) -> str:
    """Returns the file of a question. Raises ProblemError for an unknown name."""
    if name in QUESTIONS:
        return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    nearest = difflib.get_close_matches(name, QUESTIONS, n=1)
    if nearest:
        sentence = translated(
            "there is no question '$0' (did you mean '$1'?); memtrace fleet query --list lists them", name, nearest[0]
        )
    else:
        sentence = translated("there is no question '$0'; memtrace fleet query --list lists them", name)
    raise ProblemError(sentence, EXIT_USAGE)


def listing() -> str:
    """Returns a line for each question."""
    width = max(map(len, QUESTIONS))
    return "".join(f"{name.ljust(width)}  {message_of(question)}\n" for name, question in QUESTIONS.items())
