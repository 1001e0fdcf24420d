# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the headings of docs/troubleshooting.md are sentences that the sources contain.

Usage: check_headings.py ROOT. Exit 0 if all is well, 1 with one line per violation otherwise. A word in capitals in a
heading stands for what varies; the text between such words must be in a source of SOURCES, literally.
"""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path("docs/troubleshooting.md")
SOURCES = ("tools", "interpose", "setup")
_VARIES = re.compile(r"\b(?:FILE|FOLDER|COMMAND|PROGRAM|PROCESS|VERSION|NAME)\b")
_JOINT = re.compile(r'"\s*\n\s*(?:<<\s*)?f?"')  # between two literals that a compiler joins


def sources(root: Path) -> str:
    """Returns all sources, with literals over several lines joined."""
    command = ["git", "ls-files", "--", *(f"{folder}/*{end}" for folder in SOURCES for end in (".cc", ".py", ".sh"))]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    return "\n".join(_JOINT.sub("", (root / name).read_text()) for name in names)


def main() -> int:
    """Prints the headings that no source contains."""
    root = Path(sys.argv[1])
    text = sources(root)
    status = 0
    for heading in re.findall(r"^### (.+)$", (root / PAGE).read_text(), re.MULTILINE):
        pieces = [piece.strip(" '\";") for piece in _VARIES.split(heading)]
        for piece in pieces:
            if piece and piece not in text:
                print(f"{PAGE}: no source prints '{piece}'")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
