# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Misuses a CUDA driver's memory calls on purpose and prints each status as JSON.

Usage: error_codes.py >FILE. The last group, whose errors may end the context, runs each in a process of its own.
"""

import ctypes as c
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from driver import GRANULE, Driver, properties

Statuses = dict[str, int]


def _mapped(driver: Driver, granules: int = 2) -> tuple[int, int]:
    """Returns the address and the handle of one granule, mapped and accessible at the beginning of a reservation."""
    address, handle = driver.reserve(granules * GRANULE)[1], driver.create(GRANULE)[1]
    driver.map(address, GRANULE, handle)
    driver.allow(address, GRANULE)
    return address, handle


def handles(driver: Driver) -> Statuses:
    wanted = properties()
    handle = c.c_uint64()
    found = {
        "create half a granule": driver.create(GRANULE // 2)[0],
        "create nothing": driver.create(0)[0],
        "create a granule and a byte": driver.create(GRANULE + 1)[0],
        "create on card 99": driver.create(GRANULE, number=99)[0],
        "create beyond the card": driver.create(1 << 45)[0],
        "create with flags": driver.call(
            "cuMemCreate", c.byref(handle), c.c_size_t(GRANULE), c.byref(wanted), c.c_uint64(1)
        ),
    }
    wanted.type = 77
    found["create of an unknown type"] = driver.call(
        "cuMemCreate", c.byref(handle), c.c_size_t(GRANULE), c.byref(wanted), c.c_uint64(0)
    )
    made = driver.create(GRANULE)[1]
    found["release"] = driver.release_handle(made)
    return found


def ranges(driver: Driver) -> Statuses:
    found = {
        "reserve a granule and a byte": driver.reserve(GRANULE + 1)[0],
        "reserve half a granule": driver.reserve(GRANULE // 2)[0],
        "reserve nothing": driver.reserve(0)[0],
        "reserve with alignment 3": driver.reserve(GRANULE, alignment=3)[0],
    }
    address = driver.reserve(2 * GRANULE)[1]
    found["free half a reservation"] = driver.unreserve(address, GRANULE)
    found["free from the middle"] = driver.unreserve(address + GRANULE, GRANULE)
    found["free a reservation"] = driver.unreserve(address, 2 * GRANULE)
    found["free it twice"] = driver.unreserve(address, 2 * GRANULE)
    return found


def mappings(driver: Driver) -> Statuses:
    address, handle = driver.reserve(4 * GRANULE)[1], driver.create(2 * GRANULE)[1]
    found = {
        "map part of a handle": driver.map(address, GRANULE, handle),
        "map from an offset": driver.map(address, GRANULE, handle, offset=GRANULE),
        "map with flags": driver.map(address, 2 * GRANULE, handle, flags=1),
        "map at half a granule": driver.map(address + GRANULE // 2, 2 * GRANULE, handle),
        "map outside any reservation": driver.map(4096 * GRANULE, 2 * GRANULE, handle),
        "access before a map": driver.allow(address, 2 * GRANULE),
        "map": driver.map(address, 2 * GRANULE, handle),
        "map over a mapping": driver.map(address + GRANULE, 2 * GRANULE, handle),
        "map a handle at two places": driver.map(address + 2 * GRANULE, 2 * GRANULE, handle),
        "access over two mappings": driver.allow(address, 4 * GRANULE),
        "access of half a mapping": driver.allow(address, GRANULE),
        "access with unknown flags": driver.allow(address, 2 * GRANULE, flags=9),
        "unmap half a mapping": driver.unmap(address, GRANULE),
        "free a mapped reservation": driver.unreserve(address, 4 * GRANULE),
        "release a mapped handle": driver.release_handle(handle),
        "unmap two mappings at once": driver.unmap(address, 4 * GRANULE),
        "unmap twice": driver.unmap(address, 2 * GRANULE),
        "free the reservation": driver.unreserve(address, 4 * GRANULE),
    }
    gap, one = driver.reserve(4 * GRANULE)[1], driver.create(GRANULE)[1]
    driver.map(gap, GRANULE, one)
    found["access beyond a mapping"] = driver.allow(gap, 2 * GRANULE)
    found["unmap beyond a mapping"] = driver.unmap(gap, 2 * GRANULE)
    driver.unmap(gap, GRANULE)
    driver.release_handle(one)
    driver.unreserve(gap, 4 * GRANULE)
    return found


def plain(driver: Driver) -> Statuses:
    address = driver.allocate(4 * GRANULE)[1]
    handle = c.c_uint64()
    found = {
        "allocate nothing": driver.allocate(0)[0],
        "allocate beyond the card": driver.allocate(1 << 45)[0],
        "unmap a plain allocation": driver.unmap(address, 4 * GRANULE),
        "access of a plain allocation": driver.allow(address, 4 * GRANULE),
        "handle of a plain allocation": driver.call(
            "cuMemRetainAllocationHandle", c.byref(handle), c.c_void_p(address)
        ),
        "release the address of a plain allocation": driver.unreserve(address, 4 * GRANULE),
        "free inside an allocation": driver.release(address + 512),
        "free an unknown address": driver.release(12345 << 21),
        "free null": driver.release(0),
        "free": driver.release(address),
        "free twice": driver.release(address),
    }
    reserved, made = _mapped(driver)
    found["free a mapped range"] = driver.release(reserved)
    found["fill a mapped range"] = driver.fill(reserved, GRANULE)
    return found | {"unmap": driver.unmap(reserved, GRANULE), "release": driver.release_handle(made)}


def streams(driver: Driver) -> Statuses:
    stream, event = c.c_void_p(), c.c_void_p()
    driver.call("cuStreamCreate", c.byref(stream), 1)
    driver.call("cuEventCreate", c.byref(event), 2)
    found = {
        "stream with unknown flags": driver.call("cuStreamCreate", c.byref(c.c_void_p()), 77),
        "query an event never recorded": driver.call("cuEventQuery", event),
        "query an idle stream": driver.call("cuStreamQuery", stream),
        "begin a capture": driver.call("cuStreamBeginCapture_v2", stream, 0),
    }
    address = driver.allocate(GRANULE)
    found["allocate in a global capture"] = address[0]
    found["synchronize in a capture"] = driver.call("cuCtxSynchronize")
    graph = c.c_void_p()
    found["end the capture"] = driver.call("cuStreamEndCapture", stream, c.byref(graph))
    found["end it twice"] = driver.call("cuStreamEndCapture", stream, c.byref(graph))
    found["begin a relaxed capture"] = driver.call("cuStreamBeginCapture_v2", stream, 2)
    status, kept = driver.allocate(GRANULE)
    found["allocate in a relaxed capture"] = status
    found["free in a relaxed capture"] = driver.release(kept)
    found["query the capturing stream"] = driver.call("cuStreamQuery", stream)
    found["end the relaxed capture"] = driver.call("cuStreamEndCapture", stream, c.byref(graph))
    return found


def _unmapped_reservation(driver: Driver) -> tuple[int, int]:
    address = driver.reserve(GRANULE)[1]
    return driver.copy_to_host(address, 64), driver.allocate(GRANULE)[0]


def _without_access(driver: Driver) -> tuple[int, int]:
    address, handle = driver.reserve(GRANULE)[1], driver.create(GRANULE)[1]
    driver.map(address, GRANULE, handle)
    return driver.copy_to_host(address, 64), driver.allocate(GRANULE)[0]


def _outside(driver: Driver) -> tuple[int, int]:
    return driver.copy_to_host(4096 * GRANULE, 64), driver.allocate(GRANULE)[0]


def _past_the_end(driver: Driver) -> tuple[int, int]:
    address = driver.allocate(GRANULE)[1]
    return driver.copy_to_host(address + GRANULE - 64, 128), driver.allocate(GRANULE)[0]


def _fill_unmapped(driver: Driver) -> tuple[int, int]:
    return driver.fill(driver.reserve(GRANULE)[1], 64), driver.allocate(GRANULE)[0]


def _fill_freed(driver: Driver) -> tuple[int, int]:
    address = driver.allocate(GRANULE)[1]
    driver.release(address)
    return driver.fill(address, 64), driver.allocate(GRANULE)[0]


FATAL: dict[str, Callable[[Driver], tuple[int, int]]] = {
    "copy from an unmapped reservation": _unmapped_reservation,
    "copy from a mapping without access": _without_access,
    "copy from outside any reservation": _outside,
    "copy past the end of an allocation": _past_the_end,
    "fill an unmapped reservation": _fill_unmapped,
    "fill what was freed": _fill_freed,
}


def _map_beyond(driver: Driver) -> int:
    return driver.map(driver.reserve(4 * GRANULE)[1] + 3 * GRANULE, 2 * GRANULE, driver.create(2 * GRANULE)[1])


def _map_over(driver: Driver) -> int:
    address, first = driver.reserve(8 * GRANULE)[1], driver.create(2 * GRANULE)[1]
    driver.map(address, 2 * GRANULE, first)
    return driver.map(address + GRANULE, 2 * GRANULE, driver.create(2 * GRANULE)[1])


def _map_unknown(driver: Driver) -> int:
    return driver.map(driver.reserve(GRANULE)[1], GRANULE, 12345)


def _release_twice(driver: Driver) -> int:
    made = driver.create(GRANULE)[1]
    driver.release_handle(made)
    return driver.release_handle(made)


def _map_released(driver: Driver) -> int:
    made, address = driver.create(GRANULE)[1], driver.reserve(GRANULE)[1]
    driver.release_handle(made)
    return driver.map(address, GRANULE, made)


def _end_twice(driver: Driver) -> int:
    stream, graph = c.c_void_p(), c.c_void_p()
    driver.call("cuStreamCreate", c.byref(stream), 1)
    return driver.call("cuStreamEndCapture", stream, c.byref(graph))


def _null(name: str, *rest: object) -> Callable[[Driver], int]:
    return lambda driver: driver.call(name, None, *rest)


SIZE, NOTHING = c.c_size_t(GRANULE), c.c_uint64(0)
# Misuses that may end the process, each run alone.
CRASHING: dict[str, Callable[[Driver], object]] = {
    "map beyond the reservation": _map_beyond,
    "map over half of a mapping": _map_over,
    "map an unknown handle": _map_unknown,
    "map a released handle": _map_released,
    "release twice": _release_twice,
    "end a capture that never began": _end_twice,
    "granularity to null": _null("cuMemGetAllocationGranularity", c.byref(properties()), 0),
    "create without properties": lambda driver: driver.call("cuMemCreate", c.byref(c.c_uint64()), SIZE, None, NOTHING),
    "reserve to null": _null("cuMemAddressReserve", SIZE, c.c_size_t(0), NOTHING, NOTHING),
    "allocate to null": _null("cuMemAlloc_v2", c.c_size_t(1)),
    "push no context": _null("cuCtxPushCurrent_v2"),
}

GROUPS: dict[str, Callable[[Driver], object]] = {
    group.__name__: group for group in (handles, ranges, mappings, plain, streams)
} | FATAL
GROUPS |= CRASHING


def run(name: str) -> object:
    """Returns the output of a group in a process of its own; minus the signal's number if the driver ended it."""
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, timeout=60, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.returncode


def main() -> int:
    driver = Driver()
    if driver.started:
        print(f"error_codes.py: the CUDA driver does not start (status {driver.started})", file=sys.stderr)
        return 5
    if len(sys.argv) > 1:
        print(json.dumps(GROUPS[sys.argv[1]](driver)))
        return 0
    with ThreadPoolExecutor(8) as pool:
        found = dict(zip(GROUPS, pool.map(run, GROUPS), strict=True))
    json.dump(found, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
