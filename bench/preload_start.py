# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what libmemtrace_preload.so adds to the start of a program that never uses CUDA.

Usage: preload_start.py LIBRARY [--runs N] [PROGRAM ARGUMENTS...] (default: 1,000 of /bin/true). Starts with and without
the library alternate; prints the wall time from posix_spawn to the end of the process in microseconds. The figure is
the difference of the medians. It says nothing about programs that use CUDA (see preload_pairs.py), and with a Python it
includes all the work of memtrace's package there.
"""

import argparse
import os
import statistics
import time


def start(command: list[str], environment: dict[str, str]) -> float:
    """Returns the seconds of one run."""
    began = time.perf_counter()
    child = os.posix_spawnp(command[0], command, environment)
    _, status = os.waitpid(child, 0)
    elapsed = time.perf_counter() - began
    if status != 0:
        raise SystemExit(f"{command[0]} failed with {status}")
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command or ["/bin/true"]
    plain = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    preloaded = {**plain, "LD_PRELOAD": os.path.abspath(options.library)}
    without, with_library = [], []
    for _ in range(options.runs):
        without.append(start(command, plain) * 1e6)
        with_library.append(start(command, preloaded) * 1e6)
    differences = [ours - theirs for theirs, ours in zip(without, with_library, strict=True)]
    before, after = statistics.median(without), statistics.median(with_library)
    print(
        f"{' '.join(command)}: without {before:.0f} us, with {after:.0f} us (medians of {options.runs}); "
        f"added: {after - before:.0f} us, median of the differences {statistics.median(differences):.0f} us"
    )


if __name__ == "__main__":
    main()
