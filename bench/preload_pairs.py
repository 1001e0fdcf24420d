# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost that libmemtrace_preload.so adds to cudaMalloc and cudaFree, on the simulated card.

Usage: preload_pairs.py BUILD [--pairs N] [--rounds R]. Prints nanoseconds per pair, medians of R processes that
alternate: plain, switched off (MEMTRACE=0), without stacks, with stacks of 10 and of 40 frames. The difference is
memtrace's cost; the ratio is to the card's own calls, which are far cheaper than a GPU's (some microseconds).
"""

import argparse
import os
import statistics
import subprocess
import tempfile

WAYS = {
    "plain": (0, None),
    "switched off": (0, {"MEMTRACE": "0"}),
    "no stacks": (0, {"MEMTRACE_NATIVE_STACKS": "0"}),
    "10 frames": (6, {}),
    "40 frames": (36, {}),
}


def measure(build: str, pairs: int, depth: int, extra: dict[str, str] | None, folder: str) -> float:
    """Returns the nanoseconds per pair of one process."""
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": f"{build}/package/lib/simulated_card",
        "MEMTRACE_CARD": "8GiB",
        "MEMTRACE_OUTPUT": os.path.join(folder, "run.trace"),
    }
    if extra is not None:
        environment |= {"LD_PRELOAD": f"{build}/package/lib/libmemtrace_preload.so", **extra}
    done = subprocess.run(
        [f"{build}/bench/driver_pairs", str(pairs), str(depth)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=True,
    )
    for trace in os.listdir(folder):
        os.unlink(os.path.join(folder, trace))
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--pairs", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    figures: dict[str, list[float]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for name, (depth, extra) in WAYS.items():
                figures[name].append(measure(build, options.pairs, depth, extra, folder))
    plain = statistics.median(figures["plain"])
    for name, values in figures.items():
        median = statistics.median(values)
        print(f"{name:14}{median:9.0f} ns  {median - plain:+8.0f} ns  {median / plain:6.2f}")


if __name__ == "__main__":
    main()
