# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes impossible requests of torch's allocator interface, and prints the answers by name: one line of JSON."""

import json
import sys

import torch

MIB = 1 << 20
SETTINGS = {
    "unknown": "nonsense:1",
    "contradictory": "expandable_segments:True,backend:cudaMallocAsync",
    "no switch": "expandable_segments:maybe",
    "no value": "expandable_segments",
    "too small": "max_split_size_mb:1",
    "no power of two": "roundup_power2_divisions:3",
    "above 1": "garbage_collection_threshold:1.5",
    "more than all": "per_process_memory_fraction:2",
}
SIZES = {"2^59": 1 << 59, "2^60": 1 << 60, "2^63 - 1": (1 << 63) - 1, "2^63": 1 << 63, "2^64 - 1": (1 << 64) - 1}
NO_DEVICE = 7
NO_STREAM = 0xDEAD0  # as if it had been destroyed
OF_A_DEVICE = {
    "statistics": lambda: torch._C._cuda_memoryStats(NO_DEVICE),
    "peaks reset": lambda: torch._C._cuda_resetPeakMemoryStats(NO_DEVICE),
    "sums reset": lambda: torch._C._cuda_resetAccumulatedMemoryStats(NO_DEVICE),
    "fraction": lambda: torch.cuda.get_per_process_memory_fraction(NO_DEVICE),
    "fraction set": lambda: torch.cuda.set_per_process_memory_fraction(0.5, NO_DEVICE),
    "allocate": lambda: torch.cuda.caching_allocator_alloc(512, NO_DEVICE),
    "tensor": lambda: torch.empty(1, device=f"cuda:{NO_DEVICE}"),
    "negative": lambda: torch._C._cuda_memoryStats(-2),
}


def freed(offset, times=1):
    address = torch.cuda.caching_allocator_alloc(4096)
    torch.cuda.caching_allocator_delete(address + offset)
    for _ in range(times - 1):
        torch.cuda.caching_allocator_delete(address)


def on_no_stream():
    address = torch.cuda.caching_allocator_alloc(4 * MIB, stream=NO_STREAM)
    torch.cuda.caching_allocator_delete(address)


def allocate(size):
    address = torch.cuda.caching_allocator_alloc(size)
    torch.cuda.caching_allocator_delete(address)


def routed(*calls):
    pool = (0, 1000)
    for begin in calls:
        (torch._C._cuda_beginAllocateToPool if begin else torch._C._cuda_endAllocateToPool)(0, pool)


QUESTIONS = {
    **{f"setting: {k}": lambda v=v: torch._C._accelerator_setAllocatorSettings(v) for k, v in SETTINGS.items()},
    "fraction: above 1": lambda: torch.cuda.set_per_process_memory_fraction(1.5),
    "fraction: below 0": lambda: torch.cuda.set_per_process_memory_fraction(-0.5),
    "free: null": lambda: torch.cuda.caching_allocator_delete(0),
    "free: not ours": lambda: torch.cuda.caching_allocator_delete(0x123456),
    "free: inside a block": lambda: freed(512),
    "free: twice": lambda: freed(0, times=2),
    "size: 0": lambda: torch.cuda.caching_allocator_alloc(0),
    "size: empty tensor": lambda: torch.empty(0, device="cuda").data_ptr(),
    **{f"size: {k}": lambda v=v: allocate(v) for k, v in SIZES.items()},
    **{f"tensor: {k}": lambda v=v: torch.empty(v, dtype=torch.uint8, device="cuda") for k, v in SIZES.items()},
    **{f"device: {k}": v for k, v in OF_A_DEVICE.items()},
    "stream: none such": on_no_stream,
    "stream: given back": torch.cuda.empty_cache,
    "record_stream: of the host": lambda: torch.empty(3).record_stream(torch.cuda.Stream()),
    "pool: begun twice": lambda: routed(True, True),
    "pool: ended twice": lambda: routed(False, False),
    "pool: released by nobody": lambda: torch._C._cuda_releasePool(0, (0, 1001)),
    "after all that": lambda: torch.ones(3, device="cuda").nbytes,
}


def answer(question):
    try:
        return repr(question())
    except Exception as error:  # any exception is the answer
        return f"{type(error).__name__}: {error}".splitlines()[0]


def main():
    torch.empty(1, device="cuda")
    print(json.dumps({name: answer(question) for name, question in QUESTIONS.items()}))


if __name__ == "__main__":
    sys.exit(main())
