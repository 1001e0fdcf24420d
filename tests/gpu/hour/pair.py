# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the cost of one allocation and its free through torch, in ns, as JSON: the median of five rounds per size.

Usage: pair.py [TAG]. The numbers include the loop's own Python, so only their differences compare allocators.
"""

import json
import statistics
import sys
import time

import torch

COUNT = 20_000


def pair(size: int) -> float:
    allocate = torch._C._cuda_cudaCachingAllocator_raw_alloc
    free = torch._C._cuda_cudaCachingAllocator_raw_delete
    stream = torch.cuda.current_stream().cuda_stream
    started = time.perf_counter_ns()
    for _ in range(COUNT):
        free(allocate(size, stream))
    return (time.perf_counter_ns() - started) / COUNT


def main() -> None:
    torch.empty(1, device="cuda")
    found = {str(size): round(statistics.median(pair(size) for _ in range(5)), 1) for size in (512, 1 << 20, 64 << 20)}
    print(json.dumps({"tag": sys.argv[1] if len(sys.argv) > 1 else "", "ns": found}))


if __name__ == "__main__":
    main()
