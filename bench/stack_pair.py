# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of recording a pair of allocation and free with a stack of 40 new Python frames.

Usage: stack_pair.py [--pairs 5] [--count 20000] [--depth 40]

Each way times `count` calls that go `depth` frames deep and allocate and free 4 KiB there, so that no frame is that of
the previous pair, as in a program whose calls return between its allocations. The ways: our allocator alone, and
recording, without and with native stacks; torch's native allocator alone, and with
`torch.cuda.memory._record_memory_history(stacks="python")`. All of them include the Python of the calls: only the
differences, recording minus alone, are the cost of recording. `near` is the same from the script's outermost frames.
"""

import argparse
import json
import os
import statistics
import time

from alternating import alternate, prepare, way

WAYS = ("ours alone", "ours recording", "ours with native stacks", "native alone", "native history")
ROUNDS = 7


def descend(depth: int, alloc, free, stream) -> None:
    """Goes `depth` frames deeper, and allocates and frees there."""
    if depth > 0:
        descend(depth - 1, alloc, free, stream)
    else:
        free(alloc(4096, stream))


def pairs(count: int, depth: int, alloc, free, stream) -> float:
    """Returns the nanoseconds per pair, in processor time of this process."""
    start = time.process_time()
    for _ in range(count):
        descend(depth, alloc, free, stream)
    return (time.process_time() - start) / count * 1e9


def child(count: int, depth: int) -> None:
    """Prints the nanoseconds per pair at both depths as JSON."""
    os.environ["MEMTRACE_TRACE"] = "0" if way().endswith("alone") else "1"
    os.environ["MEMTRACE_NATIVE_STACKS"] = "1" if way() == "ours with native stacks" else ""
    prepare(ours=way().startswith("ours"))
    import torch

    torch.cuda.init()
    if way() == "native history":
        torch.cuda.memory._record_memory_history(stacks="python", max_entries=1_000_000)
    alloc = torch._C._cuda_cudaCachingAllocator_raw_alloc
    free = torch._C._cuda_cudaCachingAllocator_raw_delete
    stream = torch.cuda.current_stream().cuda_stream
    beside = alloc(4096, stream)
    result = {}
    for name, frames in (("near", 0), ("deep", depth)):
        pairs(count, frames, alloc, free, stream)  # warms up
        result[name] = statistics.median(pairs(count, frames, alloc, free, stream) for _ in range(ROUNDS))
    free(beside)
    print(json.dumps(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--depth", type=int, default=40)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.count, options.depth)
        return
    arguments = ["--count", str(options.count), "--depth", str(options.depth)]
    runs = list(alternate(__file__, arguments, options.pairs, WAYS))
    for where in ("near", "deep"):
        figures = [[run[place][where] for run in runs] for place in range(len(WAYS))]
        ours = [recording - alone for alone, recording in zip(figures[0], figures[1], strict=True)]
        native = [recording - alone for alone, recording in zip(figures[0], figures[2], strict=True)]
        torchs = [history - alone for alone, history in zip(figures[3], figures[4], strict=True)]
        print(
            f"{where}: "
            + ", ".join(f"{name} {statistics.median(f):.0f}" for name, f in zip(WAYS, figures, strict=True))
        )
        print(
            f"  recording adds {statistics.median(ours):.0f} ns a pair (min {min(ours):.0f}, max {max(ours):.0f}), "
            f"torch's history {statistics.median(torchs):.0f}: "
            f"{statistics.median(torchs) / statistics.median(ours):.1f} times; with native stacks ours adds "
            f"{statistics.median(native):.0f} (min {min(native):.0f}, max {max(native):.0f})"
        )


if __name__ == "__main__":
    main()
