# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what a sleep and a wake cost on the host, without the copy. Prints milliseconds for each GiB.

The time is that of the calling thread on the processor, because all of the work is done there, and other programs do
not change it as they change the time on the clock.

Two owners of 14 GiB: one tensor, and 28,672 tensors of 512 KiB. Run it on a simulated card, which answers a call of
the driver within microseconds: `memtrace run -q --no-trace --card 40GiB -- python bench/sleep.py`. On a GPU the
driver's own time comes on top; docs/design/politeness.md has it by the size of chunks.
"""

import time

import memtrace
import torch

GIB = 1 << 30
SIZE = 14 * GIB


def milliseconds(call, *arguments):
    """Returns the time of a call on the processor."""
    begin = time.thread_time()
    call(*arguments)
    return (time.thread_time() - begin) * 1e3


def measure(name, sizes):
    with memtrace.tag(name, movable=True):
        tensors = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
    addresses = [tensor.data_ptr() for tensor in tensors]
    turns = [(milliseconds(memtrace.sleep, name, "nothing"), milliseconds(memtrace.wake, name)) for _ in range(5)]
    assert addresses == [tensor.data_ptr() for tensor in tensors]
    for index, what in enumerate(("sleep", "wake")):
        times = sorted(turn[index] for turn in turns)
        print(f"{name}: {what} {times[2] * GIB / SIZE:.3f} ms a GiB (first {turns[0][index] * GIB / SIZE:.3f})")


measure("one", [SIZE])
measure("many", [SIZE // 28672] * 28672)
