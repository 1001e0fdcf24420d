# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the time and memory that the offline tool takes for a long trace and for a snapshot of torch.

Usage: large_trace.py BUILD [SNAPSHOT...] [--rounds N]

Traces of 1 and 10 million events (large_trace of BUILD) are read by `stats` and `report`: wall seconds, processor
seconds, and the peak of resident memory; each is the minimum of the rounds, because other work on the machine only
adds. SNAPSHOT is a pickle of torch.cuda.memory._dump_snapshot(): `memtrace stats` of it alternates with torch's own
`_memory_viz stats` and with pickle.load alone, each a whole process; the figures are medians of the ratios of
neighbours.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MILLION = 1_000_000
LOAD = """import pickle, sys, time
begun = time.perf_counter()
pickle.load(open(sys.argv[1], "rb"))
print(time.perf_counter() - begun)"""


@dataclass
class Cost:
    """The cost of one process."""

    seconds: float
    processor: float
    peak_mib: float
    said: str


def run(*command: str | Path) -> Cost:
    """Runs a command with little output; raises CalledProcessError if it fails."""
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise subprocess.CalledProcessError(child.returncode, [str(word) for word in command])
        out.seek(0)
        return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read().decode())


def least(costs: list[Cost]) -> Cost:
    return Cost(
        min(cost.seconds for cost in costs),
        min(cost.processor for cost in costs),
        max(cost.peak_mib for cost in costs),
        "",
    )


def print_traces(build: Path, rounds: int) -> None:
    ways = [("stats",), ("stats", "--json"), ("report",)]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for millions in (1, 10):
            files[millions] = Path(folder) / f"{millions}.trace"
            run(build / "bench" / "large_trace", "--events", str(millions * MILLION), files[millions])
        costs: dict[tuple[tuple[str, ...], int], list[Cost]] = {}
        for _ in range(rounds):
            for way in ways:
                for millions, file in files.items():
                    costs.setdefault((way, millions), []).append(run(build / "memtrace", *way, file))
        sizes = ", ".join(f"{file.stat().st_size / 2**20:.1f} MiB" for file in files.values())
        print(f"traces of 1 and 10 million events ({sizes}), least of {rounds}:")
        for way in ways:
            small, large = least(costs[way, 1]), least(costs[way, 10])
            by_clock, by_processor = large.seconds / small.seconds, large.processor / small.processor
            print(
                f"  {' '.join(way):<13} {small.seconds:6.3f} s -> {large.seconds:6.3f} s (x {by_clock:4.1f}),"
                f" processor {large.processor:6.3f} s (x {by_processor:4.1f}),"
                f" peak {small.peak_mib:.0f} -> {large.peak_mib:.0f} MiB"
            )


def print_snapshot(build: Path, file: Path, rounds: int) -> None:
    ours, viz, load, inside = [], [], [], []
    for _ in range(rounds):
        ours.append(run(build / "memtrace", "stats", file))
        viz.append(run(sys.executable, "-m", "torch.cuda._memory_viz", "stats", file))
        load.append(run(sys.executable, "-c", LOAD, file))
        inside.append(float(load[-1].said))
    ratios = [theirs.seconds / mine.seconds for theirs, mine in zip(viz, ours, strict=True)]
    middle = statistics.median
    print(f"snapshot {file.name} ({file.stat().st_size / 2**20:.1f} MiB), medians of {rounds}:")
    print(f"  memtrace stats              {middle(cost.seconds for cost in ours) * 1000:7.1f} ms")
    print(
        f"  _memory_viz stats           {middle(cost.seconds for cost in viz) * 1000:7.1f} ms, "
        f"{middle(ratios):.0f} times as long (least {min(ratios):.0f})"
    )
    print(f"  python -c pickle.load       {middle(cost.seconds for cost in load) * 1000:7.1f} ms")
    print(f"  pickle.load alone           {middle(inside) * 1000:7.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("snapshot", type=Path, nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    print(f"load {' '.join(f'{load:.1f}' for load in os.getloadavg())}")
    print_traces(chosen.build, chosen.rounds)
    for snapshot in chosen.snapshot:
        print_snapshot(chosen.build, snapshot, chosen.rounds)


if __name__ == "__main__":
    main()
