# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the manifest of the simulated card: the effect of calling each symbol that its libraries export.

list_symbols.py --nm NM --symbols FOLDER --output OUT LIBRARY...

One line a symbol: library, symbol, class, and for partial ones the note of LIBRARY.partial.txt. Read from the linked
libraries, so it cannot become outdated: symbols of our own code are strong, generated stubs weak (generate_stubs.py).

  full         answered by the card
  partial      answered except for the note's subject; a note "computes nothing" makes it inert
  inert        stands for computation: succeeds, is counted, computes nothing
  unsupported  fails with the library's "not supported" and is counted by name
"""

import argparse
import subprocess
from pathlib import Path

from symbol_tables import library_of, names, notes, without_version


def exported(nm: str, library: Path) -> dict[str, bool]:
    """Return each exported function of a library and whether it is weak."""
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    return {row[2].split("@")[0]: row[1] == "W" for row in rows if row[1] in "TW"}


def classes(weak: dict[str, bool], inert: set[str], partial: dict[str, str]) -> tuple[dict[str, str], set[str]]:
    """Return class and note of each symbol, and which have a note.

    A version of a function has the note of its name without the number, a form for per-thread streams its base's class.
    """
    found: dict[str, str] = {}
    used: set[str] = set()
    for name, is_weak in weak.items():
        found[name] = "inert" if name in inert else "unsupported" if is_weak else "full"
        note = partial.get(name) or partial.get(without_version(name))
        if note and found[name] == "full":
            found[name] = f"{'inert' if note.startswith('computes nothing') else 'partial'} {note}"
            used.add(name)
    for name in found:
        base = name.removesuffix("_ptds").removesuffix("_ptsz")
        found[name] = found.get(base, found[name])
    return found, used


def main() -> None:
    """Write the manifest."""
    parser = argparse.ArgumentParser()
    for option in ("--nm", "--symbols", "--output"):
        parser.add_argument(option, required=True)
    parser.add_argument("libraries", nargs="+", type=Path)
    options = parser.parse_args()
    lines = []
    folder = Path(options.symbols)
    noted: dict[str, set[str]] = {}  # by table: its functions that our code answers
    for library in options.libraries:
        name = library_of(library.name)
        inert = names([folder / f"{name}.inert.txt"])
        exports = folder / "exports"
        known = names([exports / f"{library.name}.txt", *exports.glob(f"{library.name}.added-*.txt")])
        found, used = classes(exported(options.nm, library), inert, notes(folder / f"{name}.partial.txt"))
        noted.setdefault(name, set()).update(used, map(without_version, used))
        lines += [f"{library.name} {symbol} {found[symbol]}" for symbol in sorted(found) if symbol in known]
    for name, answered in noted.items():
        if never := sorted(set(notes(folder / f"{name}.partial.txt")) - answered):
            raise SystemExit(f"{name}.partial.txt: our code does not answer {', '.join(never)}")
    Path(options.output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
