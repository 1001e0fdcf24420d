# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures one allocation and its free through torch, on the simulated card: ours recording against native.

Usage: torch_pair.py [--pairs 5] [--count 20000]

A: our allocator, recording every event with Python stacks. B: torch's native allocator without history. Each process
times raw_alloc and raw_delete of torch._C from a call 30 frames deep, with one size hot and with 256 blocks live, and
takes the median of 5 rounds; A and B alternate. Both numbers include the loop's own Python, so the ratio is smaller
than that of the allocators alone and the difference is the honest figure. Frames are hot (the same loop again), which
flatters stack capture; bench/gpt2_step.py has new ones.
"""

import argparse
import json
import random
import statistics
import time

from alternating import alternate, prepare

DEPTH = 30
ROUNDS = 5


def hot(alloc, free, stream, count: int, size: int) -> float:
    """Returns the seconds for `count` pairs of one size."""
    start = time.perf_counter()
    for _ in range(count):
        free(alloc(size, stream))
    return time.perf_counter() - start


def mixed(alloc, free, stream, count: int, live: int) -> float:
    """Returns the seconds for `count` exchanges of a random one of `live` blocks for one of another size."""
    chooser = random.Random(1)
    sizes = [512 << chooser.randrange(15) for _ in range(count + live)]
    places = [chooser.randrange(live) for _ in range(count)]
    blocks = [alloc(size, stream) for size in sizes[:live]]
    start = time.perf_counter()
    for place, size in zip(places, sizes[live:], strict=True):
        free(blocks[place])
        blocks[place] = alloc(size, stream)
    seconds = time.perf_counter() - start
    for block in blocks:
        free(block)
    return seconds


def deep(depth: int, function):
    """Calls `function` from `depth` further frames."""
    return function() if depth == 0 else deep(depth - 1, function)


def child(count: int) -> None:
    """Prints the nanoseconds per pair of each case as JSON."""
    prepare()
    import torch

    torch.cuda.init()
    alloc = torch._C._cuda_cudaCachingAllocator_raw_alloc
    free = torch._C._cuda_cudaCachingAllocator_raw_delete
    stream = torch.cuda.current_stream().cuda_stream
    cases = {
        "hot 512 B": lambda: hot(alloc, free, stream, count, 512),
        "hot 1 MiB": lambda: hot(alloc, free, stream, count, 1 << 20),
        "hot 64 MiB": lambda: hot(alloc, free, stream, count, 64 << 20),
        "256 live": lambda: mixed(alloc, free, stream, count, 256),
    }
    beside = alloc(512, stream)
    result = {}
    for name, case in cases.items():
        case()  # warms up: segments, pages of the trace
        result[name] = statistics.median(deep(DEPTH, case) for _ in range(ROUNDS)) / count * 1e9
    free(beside)
    print(json.dumps(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.count)
        return
    runs = list(alternate(__file__, ["--count", str(options.count)], options.pairs))
    for case in runs[0][0]:
        ours, native = ([pair[place][case] for pair in runs] for place in (0, 1))
        ratios = sorted(a / b for a, b in zip(ours, native, strict=True))
        print(
            f"{case:10}  ours {statistics.median(ours):6.0f} ns  native {statistics.median(native):6.0f} ns  "
            f"ratio min {ratios[0]:.2f}  median {statistics.median(ratios):.2f}  max {ratios[-1]:.2f}"
        )


if __name__ == "__main__":
    main()
