# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Another library of the process asks the driver for 4 GiB, beside 23.6 GB that torch's allocator has cached.

Prints one line of JSON: for each function of the driver its result, and what torch had reserved before and after it.
"""

import ctypes
import json

import torch

GIB = 1 << 30
CACHED = 23 * GIB
WANTED = 4 * GIB

cuda = ctypes.CDLL("libcuda.so.1")


class Properties(ctypes.Structure):
    """`CUmemAllocationProp` for memory of card 0 that is not exported."""

    _fields_ = [
        *[(name, ctypes.c_int) for name in ("type", "handles", "location", "id")],
        ("rest", ctypes.c_byte * 16),
    ]


PINNED, ON_A_CARD = 1, 1


def cache():
    """Fills the card with tensors, and frees them."""
    tensors = [torch.zeros(CACHED // 8, dtype=torch.uint8, device="cuda") for _ in range(8)]
    tensors.clear()


def with_address(call, free):
    address = ctypes.c_uint64()
    result = call(ctypes.byref(address))
    if result == 0:
        assert free(address) == 0
    return result


def alloc():
    return with_address(lambda address: cuda.cuMemAlloc_v2(address, ctypes.c_size_t(WANTED)), cuda.cuMemFree_v2)


def alloc_async():
    return with_address(lambda address: cuda.cuMemAllocAsync(address, ctypes.c_size_t(WANTED), None), free_async)


def alloc_from_pool():
    pool = ctypes.c_void_p()
    assert cuda.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0) == 0
    return with_address(
        lambda address: cuda.cuMemAllocFromPoolAsync(address, ctypes.c_size_t(WANTED), pool, None), free_async
    )


def free_async(address):
    result = cuda.cuMemFreeAsync(address, None)
    assert cuda.cuCtxSynchronize() == 0
    return result


def create():
    wanted = Properties(type=PINNED, location=ON_A_CARD, id=0)
    handle = ctypes.c_uint64()
    result = cuda.cuMemCreate(ctypes.byref(handle), ctypes.c_size_t(WANTED), ctypes.byref(wanted), ctypes.c_uint64(0))
    if result == 0:
        assert cuda.cuMemRelease(handle) == 0
    return result


told = {}
for function in (alloc, alloc_async, alloc_from_pool, create):
    cache()
    before = torch.cuda.memory_reserved()
    told[function.__name__] = [function(), before, torch.cuda.memory_reserved()]
kept = torch.ones(1 << 20, device="cuda")
print(json.dumps(told))
