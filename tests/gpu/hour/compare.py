# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints a table of measured figures beside those of the simulated card, file by file.

Usage: compare.py EXPECTED FOUND [FILE ...]. Both are folders that hour.sh filled; without FILE all files that both have
are compared. Bytes and counts are compared exactly, times and losses are not. Each difference is a line in
FOUND/differences.txt. The exit status is 1 if something differs, 2 if there is nothing to compare.
"""

import sys
from pathlib import Path
from typing import Any

from figures import figures


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Returns one line for each figure that differs, or that one of the two lacks."""
    absent = "absent"
    names = [*expected, *(name for name in found if name not in expected)]
    return [
        f"{name}: found {found.get(name, absent)}, expected {expected.get(name, absent)}"
        for name in names
        if name not in expected or name not in found or found[name] != expected[name]
    ]


def main() -> int:
    expected, found = Path(sys.argv[1]), Path(sys.argv[2])
    wanted = sys.argv[3:] or sorted(path.name for path in found.iterdir() if path.suffix in (".json", ".jsonl", ".txt"))
    rows, lines = [], []
    for name in (name for name in wanted if (expected / name).is_file() and (found / name).is_file()):
        ours, theirs = figures(expected / name), figures(found / name)
        if ours or theirs:
            differing = differences(ours, theirs)
            rows.append((name, len(theirs), len(differing)))
            lines += [f"{name}: {line}" for line in differing]
    if not rows:
        print("there is nothing to compare")
        return 2
    print(f"{'FILE':<36}{'FIGURES':>9}{'DIFFERENT':>11}")
    for name, count, different in rows:
        print(f"{name:<36}{count:>9}{different:>11}")
    print(f"{'all':<36}{sum(row[1] for row in rows):>9}{len(lines):>11}")
    (found / "differences.txt").write_text("".join(line[:400] + "\n" for line in lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
