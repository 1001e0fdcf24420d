# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that no folder has more files than a person can look over.

Usage: check_folders.py ROOT. Exit 0 if all is well, 1 with one line per violation otherwise. Files of folders inside
are not counted. What is generated or ignored by git does not count either.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

MOST_FILES = 40


def files(root: Path) -> list[str]:
    """Returns the files that git knows and that exist."""
    command = ["git", "ls-files", "-z"]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and (root / name).exists()]


def main() -> int:
    """Prints the folders with too many files."""
    counts = Counter(str(PurePosixPath(name).parent) for name in files(Path(sys.argv[1])))
    large = {folder: count for folder, count in counts.items() if count > MOST_FILES}
    for folder, count in sorted(large.items()):
        print(f"{folder}/ has {count} files, more than {MOST_FILES}; sort them into folders (docs/design/structure.md)")
    if not large:
        folder, count = counts.most_common(1)[0]
        print(f"no folder has more than {MOST_FILES} files; {folder}/ has most, {count}")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
