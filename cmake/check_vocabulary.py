# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that keys of facts are defined only in facts.def, that each is used, and that no other key is stated.

Words of the other tables with an underscore, such as "stream_wait", are defined only there as well. Words without one
are English words that mean something else in many places, so they are not checked.

Also checks variables of the environment: C++ reads those of base/environment.def, only through base/environment.h, and
Python reads no other variable of ours.

Usage: check_vocabulary.py ROOT. Exit 0 if all is well, 1 with one line per violation otherwise.
"""

import re
import subprocess
import sys
from pathlib import Path

from generate_vocabulary import ENVIRONMENT, PYTHON, SCRIPT, TABLES, capitals, facts, variables, words

SOURCES = ("base", "allocator", "profiler", "interpose", "tools", "bench")
_NO_VARIABLES = {"MEMTRACE_VERSION"}  # constants of the compiler's command line
# Places where a literal is equal to a word of a table, and why it may be.
_MAY_BE_LITERAL = {
    ("interpose/python/memtrace/__init__.py", "largest_batch"): "a function of the package has this name",
    ("interpose/python/memtrace/_public/spilled.py", "on_host"): "a field of a struct of memtrace.h has this name",
    ("tools/report/page/src/map/colouring.ts", "stream_wait"): "its type is LedgerEntry, so tsc compares it",
}
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_STATED = re.compile(r'\b[aA]nnotate\(\s*(f?"[^"{]*")')


def _files(root: Path) -> list[Path]:
    patterns = [f"{folder}/*.{ending}" for folder in SOURCES for ending in ("cc", "h", "py", "ts")]
    names = subprocess.run(["git", "ls-files", *patterns], cwd=root, capture_output=True, text=True, check=True).stdout
    return [root / name for name in names.split() if Path(name) not in (PYTHON, SCRIPT)]


def _code(text: str) -> str:
    """Returns the text without comments and docstrings, with the same lines."""
    text = re.sub(r'"""(?:.|\n)*?"""', lambda found: "\n" * found[0].count("\n"), text)
    text = re.sub(r"/\*\*(?:.|\n)*?\*/", lambda found: "\n" * found[0].count("\n"), text)
    return re.sub(r"(?m)(?:^|\s)(?://|# ).*$", "", text)


def _is_key(text: str, keys: dict[str, str]) -> bool:
    return ("." in text and text in keys) or any(number and text.startswith(key + ".") for key, number in keys.items())


def foreign_variables(root: Path) -> list[str]:
    """Returns the places where the environment is read in another way, or a variable of ours is not in the list."""
    known = set(variables(root))
    found = []
    for file in _files(root):
        path = file.relative_to(root)
        if path.parts[0] == "bench" or path.name == "environment.h":
            continue
        for number, line in enumerate(_code(file.read_text()).splitlines(), 1):
            names = set(re.findall(r'"(MEMTRACE(?:_[A-Z]+)*)"', line)) - _NO_VARIABLES
            is_listed = names <= known and (path.suffix == ".py" or not names)
            if not is_listed or (path.suffix != ".py" and re.search(r"\bgetenv\(|\bget_env\(", line)):
                found.append(f"{path}:{number}: the environment is read through {ENVIRONMENT}: {line.strip()}")
    return found


def copied_words(root: Path) -> list[str]:
    """Returns the places where a word of a table is a literal, and exceptions that no file needs any more."""
    tables = {word: table for table, listed in words(root).items() for word in listed if "_" in word}
    unneeded = set(_MAY_BE_LITERAL)
    found = []
    for file in _files(root):
        path = file.relative_to(root)
        for number, line in enumerate(_code(file.read_text()).splitlines(), 1):
            for word in (literal[1:-1] for literal in _LITERAL.findall(line)):
                if (str(path), word) in _MAY_BE_LITERAL:
                    unneeded.discard((str(path), word))
                elif word in tables:
                    found.append(f'{path}:{number}: "{word}" is a word of {TABLES}/{tables[word]}.def')
    return found + [f'{path}: "{word}" needs no exception any more' for path, word in sorted(unneeded)]


def main(root: Path) -> int:
    keys = {key: number for _, key, number, _ in facts(root)}
    names = {name for name, *_ in facts(root)}
    unused = set(names)
    status = 0
    for file in _files(root):
        code = _code(file.read_text())
        unused -= {name for name in unused if re.search(rf"\bk{name}\b|\b{capitals(name)}\b", code)}
        for number, line in enumerate(code.splitlines(), 1):
            named = [literal for literal in _LITERAL.findall(line) if _is_key(literal[1:-1], keys)]
            for literal in named + _STATED.findall(line):
                print(f"{file.relative_to(root)}:{number}: {literal} is to be a key of {TABLES}/facts.def")
                status = 1
    for line in [*copied_words(root), *foreign_variables(root)]:
        print(line)
        status = 1
    for name in sorted(unused):
        print(f"{TABLES}/facts.def: nobody uses {name}")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
