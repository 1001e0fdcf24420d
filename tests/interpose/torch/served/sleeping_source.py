# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Does with the driver what vLLM's sleep mode does (vllm/device_allocator/cumem.py), beside memtrace's allocator.

A pool has an allocator of its own: one reservation and one handle for each segment. To sleep, it copies contents to the
host and unmaps segments, of which torch is told nothing. Prints what was seen, as a line of JSON.
"""

import ctypes
import gc
import json

import torch
from support.seen_in_program import used

MIB = 1 << 20
driver = ctypes.CDLL("libcuda.so.1")


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Properties(ctypes.Structure):
    """`CUmemAllocationProp`."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", Location),
        ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class Access(ctypes.Structure):
    _fields_ = (("location", Location), ("flags", ctypes.c_int))


DEVICE = Location(1, 0)
segments: dict[int, tuple[int, int]] = {}  # size and handle, by address
backups: dict[int, ctypes.Array] = {}


def check(result: int) -> None:
    assert result == 0, result


def map_new(address: int, size: int) -> None:
    handle = ctypes.c_uint64()
    check(driver.cuMemCreate(ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(Properties(1, 0, DEVICE)), 0))
    check(driver.cuMemMap(ctypes.c_uint64(address), ctypes.c_size_t(size), ctypes.c_size_t(0), handle, 0))
    access = Access(DEVICE, 3)
    check(driver.cuMemSetAccess(ctypes.c_uint64(address), ctypes.c_size_t(size), ctypes.byref(access), 1))
    segments[address] = size, handle.value


def unmap(address: int) -> None:
    size, handle = segments[address]
    check(driver.cuMemUnmap(ctypes.c_uint64(address), ctypes.c_size_t(size)))
    check(driver.cuMemRelease(ctypes.c_uint64(handle)))


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
def allocate(size, _device, _stream):
    size = -(-size // (2 * MIB)) * 2 * MIB
    address = ctypes.c_uint64()
    zero = ctypes.c_size_t(0)
    check(driver.cuMemAddressReserve(ctypes.byref(address), ctypes.c_size_t(size), zero, ctypes.c_uint64(0), 0))
    map_new(address.value, size)
    return address.value


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
def free(address, _size, _device, _stream):
    torch.cuda.synchronize()
    unmap(address)
    size, _ = segments.pop(address)
    check(driver.cuMemAddressFree(ctypes.c_uint64(address), ctypes.c_size_t(size)))


def sleep():
    for address, (size, _) in segments.items():
        backup = backups[address] = (ctypes.c_ubyte * size)()
        check(driver.cuMemcpyDtoH_v2(backup, ctypes.c_uint64(address), ctypes.c_size_t(size)))
        unmap(address)
    gc.collect()
    torch.cuda.empty_cache()


def wake():
    for address, (size, _) in list(segments.items()):
        map_new(address, size)
        check(driver.cuMemcpyHtoD_v2(ctypes.c_uint64(address), backups.pop(address), ctypes.c_size_t(size)))


torch.zeros(1, device="cuda")
numbers = [ctypes.cast(function, ctypes.c_void_p).value for function in (allocate, free)]
pool = torch.cuda.MemPool(torch._C._cuda_customAllocator(*numbers))
host = torch.randn(4 * MIB)
with torch.cuda.use_mem_pool(pool):
    weights = host.cuda()
    temporary = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
    del temporary
before = used(), weights.data_ptr()
sleep()
told = {"gone": before[0] - used()}
beside = torch.ones(760 * MIB, dtype=torch.uint8, device="cuda")  # fits only meanwhile
try:
    torch.empty(1000 * MIB, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    told["out of memory"] = True
del beside
torch.cuda.empty_cache()
wake()
told["same"] = torch.equal(weights.cpu(), host) and weights.data_ptr() == before[1]
(weights * 2).sum().item()
del weights, pool
gc.collect()
told["segments"] = len(segments)
print(json.dumps(told))
