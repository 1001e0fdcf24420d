# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""How long does a fleet of 10,000 traces take? Goals on two cores: 20 s for the table, 1 s for a query.

Usage: fleet.py [--traces N] [--rounds N] [TRACE ...]. Without traces: three small ones are recorded on a simulated
card. The fleet is made of copies, each a file of its own, in 100 folders of a temporary folder. They are in the page
cache when they are read, so the figures say nothing about a slow disk or a file server.

Each figure is the least of the rounds, for the whole command, because other work on the machine only adds.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "tools" / "fleet"))
from fleets import record
from support.programs import MEMTRACE

FOLDERS = 100
SQL = "SELECT script, max(peak_requested_bytes) AS peak_bytes FROM fleet GROUP BY script"


def copy(traces: list[Path], count: int, folder: Path) -> int:
    """Makes a fleet of copies. Returns its bytes."""
    size = 0
    for number in range(count):
        target = folder / str(number % FOLDERS) / f"run-{number}.trace"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(traces[number % len(traces)], target)
        size += target.stat().st_size
    return size


def seconds(rounds: int, *words: str) -> float:
    """Returns the least time of a command."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        subprocess.run([str(MEMTRACE), "fleet", *words], stdout=subprocess.DEVNULL, timeout=600, check=True)
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("given", nargs="*", metavar="TRACE", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        traces = options.given or sorted(record(Path(scratch)).rglob("*.trace"))
        folder = Path(scratch) / "fleet"
        folder.mkdir()
        size = copy(traces, options.traces, folder)
        table = Path(scratch) / "fleet.parquet"
        written = seconds(options.rounds, str(folder), "-f", "-o", str(table))
        print(f"{options.traces:,} traces of {size / 2**20:,.0f} MiB: table of {table.stat().st_size / 2**20:.1f} MiB")
        print(f"  {written:6.2f} s  memtrace fleet FOLDER -o fleet.parquet")
        for query in ("waste", "out-of-memory", "growth", SQL):
            asked = seconds(options.rounds, "query", query, "--from", str(table))
            print(f"  {asked:6.2f} s  memtrace fleet query {query}")


if __name__ == "__main__":
    main()
