# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the minors of torch in the package index that no lock file of `headers/` pins; exit status 1 if there are any.

A missing minor runs with torch's own allocator; docs/design/torches.md describes how one is added.
"""

import re
import subprocess
import sys
from pathlib import Path

FIRST = (2, 5)


def offered() -> set[tuple[int, int]]:
    """Returns the minors of torch that pip can install here; raises SystemExit if the index cannot be queried."""
    command = [sys.executable, "-m", "pip", "index", "versions", "torch", "--disable-pip-version-check"]
    asked = subprocess.run(command, check=False, capture_output=True, text=True)
    if asked.returncode != 0:
        sys.exit(f"missing_torches: the package index cannot be queried: {asked.stderr.strip()}")
    versions = re.search(r"^Available versions: (.*)$", asked.stdout, re.M)
    return {
        (int(major), int(minor)) for major, minor in re.findall(r"(\d+)\.(\d+)\.\d+", versions[1] if versions else "")
    }


def served() -> set[tuple[int, int]]:
    """Returns the minors whose headers are pinned, which are those that get a shim."""
    names = [lock.stem.removeprefix("torch-") for lock in (Path(__file__).parent / "headers").glob("torch-*.lock")]
    return {(int(name.split(".")[0]), int(name.split(".")[1])) for name in names}


def main() -> int:
    """Prints the missing minors, one a line."""
    missing = sorted(minor for minor in offered() - served() if minor >= FIRST)
    for major, minor in missing:
        lock = f"setup/headers/torch-{major}.{minor}.lock"
        print(f"torch {major}.{minor} has no shim: {lock} is missing (docs/design/torches.md).")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
