# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of libcuda that the probes make, by ctypes, with numbers and structs as in cuda.h of CUDA 13.

Every call returns CUDA's status as an int and raises nothing, because the status is measured.
"""

import ctypes as c

DEVICE, HOST, HOST_NUMA = 1, 2, 3  # CUmemLocationType
PINNED = 1  # CUmemAllocationType
READ_WRITE = 3  # CUmemAccess_flags
GRANULE = 2 << 20


class Location(c.Structure):
    """CUmemLocation."""

    _fields_ = (("type", c.c_int), ("id", c.c_int))


class AllocationProperties(c.Structure):
    """CUmemAllocationProp: 32 bytes."""

    _fields_ = (
        ("type", c.c_int),
        ("handle_types", c.c_int),
        ("location", Location),
        ("win32", c.c_void_p),
        ("compression", c.c_ubyte),
        ("rdma", c.c_ubyte),
        ("usage", c.c_ushort),
        ("reserved", c.c_ubyte * 4),
    )


class Access(c.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", Location), ("flags", c.c_int))


def properties(place: int = DEVICE, number: int = 0) -> AllocationProperties:
    return AllocationProperties(type=PINNED, location=Location(place, number))


class Driver:
    """libcuda, with the primary context of card 0 current."""

    def __init__(self) -> None:
        self.library = c.CDLL("libcuda.so.1")
        self.context = c.c_void_p()
        self.started = (
            self.call("cuInit", 0)
            or self.call("cuDevicePrimaryCtxRetain", c.byref(self.context), 0)
            or self.call("cuCtxSetCurrent", self.context)
        )

    def call(self, name: str, *arguments: object) -> int:
        return int(getattr(self.library, name)(*arguments))

    def memory(self) -> tuple[int, int]:
        """Returns free and total bytes of the card; (0, 0) if the driver refuses."""
        free, total = c.c_size_t(), c.c_size_t()
        if self.call("cuMemGetInfo_v2", c.byref(free), c.byref(total)):
            return 0, 0
        return free.value, total.value

    def free(self) -> int:
        return self.memory()[0]

    def allocate(self, size: int) -> tuple[int, int]:
        """Calls cuMemAlloc; returns the status and the address."""
        address = c.c_uint64()
        status = self.call("cuMemAlloc_v2", c.byref(address), c.c_size_t(size))
        return status, address.value

    def release(self, address: int) -> int:
        return self.call("cuMemFree_v2", c.c_uint64(address))

    def create(self, size: int, place: int = DEVICE, number: int = 0) -> tuple[int, int]:
        """Calls cuMemCreate; returns the status and the handle."""
        handle = c.c_uint64()
        wanted = properties(place, number)
        return self.call("cuMemCreate", c.byref(handle), c.c_size_t(size), c.byref(wanted), c.c_uint64(0)), handle.value

    def release_handle(self, handle: int) -> int:
        return self.call("cuMemRelease", c.c_uint64(handle))

    def reserve(self, size: int, hint: int = 0, alignment: int = 0) -> tuple[int, int]:
        """Calls cuMemAddressReserve; returns the status and the address."""
        address = c.c_uint64()
        status = self.call(
            "cuMemAddressReserve",
            c.byref(address),
            c.c_size_t(size),
            c.c_size_t(alignment),
            c.c_uint64(hint),
            c.c_uint64(0),
        )
        return status, address.value

    def unreserve(self, address: int, size: int) -> int:
        return self.call("cuMemAddressFree", c.c_uint64(address), c.c_size_t(size))

    def map(self, address: int, size: int, handle: int, offset: int = 0, flags: int = 0) -> int:
        return self.call(
            "cuMemMap",
            c.c_uint64(address),
            c.c_size_t(size),
            c.c_size_t(offset),
            c.c_uint64(handle),
            c.c_uint64(flags),
        )

    def unmap(self, address: int, size: int) -> int:
        return self.call("cuMemUnmap", c.c_uint64(address), c.c_size_t(size))

    def allow(self, address: int, size: int, flags: int = READ_WRITE) -> int:
        access = Access(Location(DEVICE, 0), flags)
        return self.call("cuMemSetAccess", c.c_uint64(address), c.c_size_t(size), c.byref(access), c.c_size_t(1))

    def fill(self, address: int, size: int, value: int = 0) -> int:
        """Calls cuMemsetD8 and synchronises; returns the first error."""
        status = self.call("cuMemsetD8_v2", c.c_uint64(address), c.c_ubyte(value), c.c_size_t(size))
        return status or self.call("cuCtxSynchronize")

    def copy_to_host(self, address: int, size: int) -> int:
        place = (c.c_ubyte * size)()
        return self.call("cuMemcpyDtoH_v2", place, c.c_uint64(address), c.c_size_t(size))
