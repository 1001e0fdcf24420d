# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the five cases on simulated cards under torch's own allocator, and prints them beside reference figures.

Usage: case_figures.py [NAME ...] (A1, or A for all of a case). Needs the frameworks (setup/setup.sh frameworks). Prints
a row of Markdown for each run: its name, the reference, our figures, the difference, and why. Peaks are allocated /
reserved, in GiB, by card; a reference of 0 is not known. The references were measured with another, simpler card before
this one existed, some with the stock torch wheel; docs/cases/README.md says how reliable they are.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from case_rows import ROWS, Row

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "cases"
PEAK = re.compile(r" cuda:(\d+) .* peak +([0-9.]+)  reserved .* peak +([0-9.]+)$", re.MULTILINE)
FAILURE = re.compile(r"Tried to allocate ([0-9.]+ \wiB)\..*? of which ([0-9.]+ \wiB) is free.* memory ([0-9.]+) GiB is")
FRAME = re.compile(r'^  File ".*", line \d+, in (\w+)$', re.MULTILINE)


def run(row: Row) -> str:
    """Returns the output of a row's run, including its exception's traceback."""
    script, *arguments = row.command.split()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    if row.expandable:
        environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    with tempfile.TemporaryDirectory() as folder:
        start = [sys.executable, "-m", "memtrace", "run", "-q", "--allocator", "native", "--card", row.card]
        program = ["-o", f"{folder}/run.trace", "--", sys.executable, str(EXAMPLES / script), *arguments]
        done = subprocess.run([*start, *program], env=environment, capture_output=True, text=True, timeout=500)
    return done.stdout + done.stderr


def peaks(printed: str) -> dict[int, tuple[float, float]]:
    """Returns the peak allocated and reserved GiB of each card."""
    found: dict[int, tuple[float, float]] = {}
    for card, allocated, reserved in PEAK.findall(printed):
        before = found.get(int(card), (0.0, 0.0))
        found[int(card)] = max(before[0], float(allocated)), max(before[1], float(reserved))
    return found


def compared_peaks(row: Row, printed: str) -> tuple[str, str, str]:
    """Returns the reference, our figure and the difference as text."""
    ours = peaks(printed)
    wanted = [(card, pair) for card, pair in enumerate(row.peaks) if any(pair)]
    reference = "; ".join(" / ".join(f"{figure:.3f}" for figure in pair if figure) for _, pair in wanted)
    own = "; ".join(f"{ours[card][0]:.3f} / {ours[card][1]:.3f}" for card, _ in wanted)
    differences = [
        " / ".join(f"{mine - known:+.3f}" for mine, known in zip(ours[card], pair, strict=True) if known)
        for card, pair in wanted
    ]
    return reference, own, "; ".join(differences)


def compared_failure(row: Row, printed: str) -> tuple[str, str, str]:
    """Returns the reference, our figure and the difference as text."""
    asked, free, allocated = FAILURE.findall(printed)[-1]
    frames = FRAME.findall(printed)
    place = row.place if row.place in frames else frames[-1]
    reference = f"OOM: {row.asked} in {row.place}" + (f", {row.free} free" if row.free else "")
    own = f"OOM: {asked} in {place}, {free} free, {allocated} GiB allocated"
    if place != row.place:
        return reference, own, "another place"
    differing = [name for name, is_equal in (("asked", asked == row.asked), ("free", free == row.free)) if not is_equal]
    if not row.free:
        differing = [name for name in differing if name != "free"]
    return reference, own, ", ".join(differing) or "none"


def main() -> None:
    wanted = sys.argv[1:]
    for row in ROWS:
        if wanted and not any(row.name == name or row.name[0] == name for name in wanted):
            continue
        printed = run(row)
        has_failed = "OutOfMemoryError" in printed
        if has_failed != bool(row.asked):
            reference, own, difference = "fits" if row.peaks else "OOM", "OOM" if has_failed else "fits", "the verdict"
        else:
            reference, own, difference = (compared_failure if has_failed else compared_peaks)(row, printed)
        is_same = not set(difference) - set("+-0./; ") or difference == "none"
        settings = " (expandable segments)" if row.expandable else ""
        cells = [
            row.name,
            row.card,
            f"`{row.command}`{settings}",
            reference,
            own,
            difference,
            "" if is_same else row.why,
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
