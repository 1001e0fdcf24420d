# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that no comment begins with a fragment such as "Of the blocks ..." or "Whether it ...".

Usage: check_prose.py ROOT [FOLDER ...]. Exit 0 if all is well, 1 with one line per violation otherwise. It looks at
each block of line comments of C++, C, TypeScript and Python, and at each docstring. A comment is a sentence
("Returns ...", "True if ...") or, above a variable, names it ("The bytes that ...").
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FRAGMENTS = ("Of", "What", "Who", "Whose", "Whom", "Whether", "As", "Those", "None")
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


def violations(file: Path) -> list[str]:
    """Returns a line for each comment of `file` that begins with a fragment."""
    text = file.read_text()
    comments = list(line_comments(text, SOURCES[file.suffix]))
    if file.suffix == ".py":
        comments += docstrings(text)
    return [f"{file}:{number}: a fragment: {said[:80]}" for number, said in comments if _FRAGMENT.match(said)]


def main() -> int:
    """Prints the violations below ROOT."""
    root, folders = Path(sys.argv[1]), sys.argv[2:] or ["."]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    found = [line for name in names if Path(name).suffix in SOURCES for line in violations(root / name)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
