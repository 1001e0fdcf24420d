# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the English of comments, pages and sentences that the program prints.

Usage: check_prose.py ROOT [FOLDER ...]. Exit 0 if all is well, 1 with one line per violation otherwise.

- No comment begins with a fragment such as "Of the blocks ..." or "Whether it ...": each block of line comments of C++,
  C, TypeScript and Python, and each docstring. A comment is a sentence ("Returns ...", "True if ...") or, above a
  variable, names it ("The bytes that ...").
- Pages (.md, outside of code) and sentences that are translated (the English ones of messages/*.po) have no word of
  AWKWARD, and pages no line above WIDTH columns.
- No sentence that is translated is longer than WORDS words.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FRAGMENTS = ("Of", "What", "Who", "Whose", "Whom", "Whether", "As", "Those", "None")
AWKWARD = re.compile(r"\b(?:to|could|can) be had\b|\bhundredths?\b|, too\b|\bwhat for\b|\blikewise\b", re.IGNORECASE)
WIDTH = 120
WORDS = 25
SOURCES = {".h": "//", ".cc": "//", ".c": "//", ".ts": "//", ".py": "#"}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FRAGMENT = re.compile(rf"({'|'.join(FRAGMENTS)})\b(?!:)")


def line_comments(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """Yields the line number and the first line of each block of comments that begin with `mark`."""
    was_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(rf"\s*{mark}+\s?(.*)", line)
        if match and not was_comment:
            yield number, match[1]
        was_comment = match is not None


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Yields the line number and the first line of each docstring of a Python source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and (said := ast.get_docstring(node)):
            yield node.body[0].lineno, said.splitlines()[0]


def of_page(file: Path) -> list[str]:
    """Returns a line for each awkward word and each long line of a page. Code is as the program prints it."""
    found = []
    is_code = False
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        if len(line) > WIDTH and not is_code:
            found.append(f"{file}:{number}: {len(line)} columns, more than {WIDTH}")
        if not is_code and (word := AWKWARD.search(line)):
            found.append(f"{file}:{number}: awkward: {word[0]}")
    return found


def of_messages(file: Path) -> list[str]:
    """Returns a line for each awkward word and each long sentence of the English texts of a catalogue."""
    found = []
    for text in re.findall(r'^msgid(?:_plural)? "(.+)"$', file.read_text(), re.MULTILINE):
        if word := AWKWARD.search(text):
            found.append(f"{file}: awkward: {word[0]}: {text}")
        found += [
            f"{file}: {len(sentence.split())} words, more than {WORDS}: {sentence}"
            for sentence in re.split(r"(?<=[.;:]) ", text)
            if len(sentence.split()) > WORDS
        ]
    return found


def violations(file: Path) -> list[str]:
    """Returns a line for each fault of `file`."""
    if file.suffix in OTHERS:
        return OTHERS[file.suffix](file)
    text = file.read_text()
    comments = list(line_comments(text, SOURCES[file.suffix]))
    if file.suffix == ".py":
        comments += docstrings(text)
    return [f"{file}:{number}: a fragment: {said[:80]}" for number, said in comments if _FRAGMENT.match(said)]


OTHERS = {".md": of_page, ".po": of_messages}


def main() -> int:
    """Prints the violations below ROOT."""
    root, folders = Path(sys.argv[1]), sys.argv[2:] or ["."]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    found = [line for name in names if Path(name).suffix in {*SOURCES, *OTHERS} for line in violations(root / name)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
