# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tries the wheel with every torch minor that it serves: matrix.py WHEEL FOLDER [MINOR ...].

For each minor an environment is made in FOLDER (5 GB), with only PyPI's torch and the wheel, used, and removed. Every
program runs on the simulated card. Prints a table with a row for each minor; the exit status is 1 if a cell of it is
not `ok`. FOLDER/MINOR.json keeps the figures.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from checks import CHECKS
from environment import ROOT, CheckError, Environment, SkipError


def pinned() -> dict[str, str]:
    """Maps each minor that has a shim to the version whose headers it was built with."""
    found = {}
    for lock in (ROOT / "setup" / "headers").glob("torch-*.lock"):
        version = re.search(r"^torch==(\S+)", lock.read_text(), re.M)
        assert version, f"{lock} pins no torch"
        found[lock.stem.removeprefix("torch-")] = version.group(1)
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def try_minor(minor: str, version: str, wheel: Path, folder: Path) -> dict[str, str]:
    """Returns a word for each check: `ok`, or the fault."""
    place = folder / f"torch-{minor}"
    shutil.rmtree(place, ignore_errors=True)
    cells: dict[str, str] = {}
    measured: dict[str, object] = {}
    try:
        here = Environment(place, version, wheel)
        for name, check in CHECKS.items():
            try:
                measured[name] = check(here)
                cells[name] = "ok"
            except SkipError as reason:
                cells[name] = f"skipped: {reason}"
            except (CheckError, KeyError, ValueError) as error:
                cells[name] = f"{type(error).__name__ if not isinstance(error, CheckError) else ''} {error}".strip()
            print(f"torch {version}: {name}: {cells[name]}", flush=True)
    except CheckError as error:
        cells = {"environment": str(error)}
    finally:
        shutil.rmtree(place, ignore_errors=True)
    (folder / f"{minor}.json").write_text(json.dumps({"cells": cells, "measured": measured}, indent=1))
    return cells


def main() -> int:
    """Tries the minors that the command line names, or all."""
    if len(sys.argv) < 3:
        sys.exit("usage: matrix.py WHEEL FOLDER [MINOR ...]")
    wheel, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    known = pinned()
    rows = {}
    for minor in sys.argv[3:] or known:
        if minor not in known:
            sys.exit(f"matrix.py: there is no shim for torch {minor}; there are {', '.join(known)}")
        rows[minor] = try_minor(minor, known[minor], wheel, folder)
    print("\n| torch | " + " | ".join(CHECKS) + " |\n|---|" + "---|" * len(CHECKS))
    for minor, cells in rows.items():
        print(f"| {minor} | " + " | ".join(cells.get(name, cells.get("environment", "-")) for name in CHECKS) + " |")
    words = [word for cells in rows.values() for word in cells.values()]
    return 0 if all(word == "ok" or word.startswith("skipped: ") for word in words) else 1


if __name__ == "__main__":
    sys.exit(main())
