# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that no class has more than 15 public functions, except those listed here with a reason, which may not grow.

Checks as well that all functions of a class are in one source.

Usage: check_classes.py ROOT. Exit 0 if all is well, 1 with one line per violation otherwise. Constructors, destructors
and assignments do not count; overloads do, and so do functions that an interface requires.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

MOST = 15
_INTERFACE = "an interface of somebody else's: c10's CUDAAllocator"
# Class -> number of its public functions, and the reason.
LARGER = {
    "CudaAllocator": (46, _INTERFACE),
    "RunAccount": (27, "an overload for each kind of event"),
    "Filler": (16, "an overload for each kind of event"),
    "MemoryVmm": (20, "Vmm's thirteen, and what a test asks of it"),
    "ProcessCards": (17, "the cards, and the shortcuts of every allocation and free"),
    "Process": (17, "the composition root: a function for each part"),
    "SegmentBlocks": (16, "takes, returns and sets aside blocks in each of their states"),
    "ExpandableSegment": (16, "its parts, and what it maps and unmaps"),
    "OperatorCall": (16, "what an operator was called with, a question each"),
    "MemoryStreams": (16, "StreamEvents' own, and what a test asks of it"),
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_CLASS = re.compile(r"\b(enum\s+)?(class|struct)\s+(?:\w+\([^)]*\)\s+|ABSL_\w+\s+|\[\[\w+\]\]\s+)*([\w:]+)[^;{}()]*\{")
# A function of a class, where it is defined outside of it.
_MEMBER = re.compile(r"^(?:[^\s(;=#/][^(;=\n]*[\s*&])?(\w+)::(?:~?\w+|operator[^\s(]*)\(", re.MULTILINE)
_PART = re.compile(r"(public:|private:|protected:|;|\{\})")


def body(text: str, begin: int) -> str:
    """Returns the text between the braces that opened before `begin`, with {} in place of nested ones."""
    depth, kept = 1, []
    for letter in text[begin:]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0:
            break
        if depth == 1:
            kept.append("{}" if letter == "}" else letter)
    return "".join(kept)


def is_counted(statement: str, name: str) -> bool:
    """True if a statement at the top of a class declares a function that counts."""
    if "(" not in statement or re.match(r"(using|static_assert|friend|#|MEMTRACE_)", statement):
        return False
    if re.search(r"\(\*\w+\)\s*\(", statement):  # a field that points to a function
        return False
    head = statement.split("(")[0].split()
    is_field = "=" in statement.split("(")[0] and "operator" not in statement
    is_made = not head or head[-1].lstrip("~*&") == name
    return not (is_field or is_made or "operator=" in statement.replace(" ", "") or "= delete" in statement)


def public_functions(text: str) -> dict[str, int]:
    """Returns the number of public functions of each class of a header or source, given without comments."""
    found: dict[str, int] = {}
    for head in _CLASS.finditer(text):
        if head[1]:
            continue
        name, is_public, count = head[3].split("::")[-1], head[2] == "struct", 0
        for part in _PART.split(body(text, head.end())):
            statement = part.strip()
            if statement in ("public:", "private:", "protected:"):
                is_public = statement == "public:"
            elif is_public and is_counted(statement, name):
                count += 1
        found[name] = max(count, found.get(name, 0))
    return found


def scattered(texts: dict[str, str]) -> dict[str, list[str]]:
    """Returns the sources of each class that has several. Classes of the same name are left out."""
    declared = Counter(
        head[3].split("::")[-1] for text in texts.values() for head in _CLASS.finditer(text) if not head[1]
    )
    sources: dict[str, list[str]] = {}
    for source, text in texts.items():
        if source.endswith(".cc"):
            for name in {member[1] for member in _MEMBER.finditer(text)}:
                sources.setdefault(name, []).append(source)
    return {name: found for name, found in sources.items() if len(found) > 1 and declared[name] == 1}


def main(root: Path) -> int:
    command = ["git", "ls-files", "*.h", "*.cc"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    texts = {
        source: _TEXT.sub('""', _COMMENT.sub("", (root / source).read_text()))
        for source in listed
        if not source.startswith(("tests/", "bench/"))
    }
    seen: dict[str, int] = {}
    status = 0
    for name, sources in scattered(texts).items():
        print(f"{', '.join(sources)}: the functions of {name} are to be in one source (cmake/check_classes.py)")
        status = 1
    for source, text in texts.items():
        for name, count in public_functions(text).items():
            seen[name] = max(count, seen.get(name, 0))
            most = LARGER.get(name, (MOST, ""))[0]
            if count > most:
                print(f"{source}: {name} has {count} public functions; {most} are the most (cmake/check_classes.py)")
                status = 1
    for name, (most, _) in LARGER.items():
        if seen.get(name, 0) < most:
            print(f"cmake/check_classes.py: {name} has {seen.get(name, 0)} public functions, no longer {most}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
