# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how a CUDA driver manages the memory of card 0, and prints the figures as JSON.

Usage: driver_facts.py >FILE. Run it while nothing else uses the card: most figures are differences of free bytes. The
same program runs on the simulated card; `compare.py` shows where the two differ.
"""

import ctypes as c
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from driver import DEVICE, GRANULE, HOST, HOST_NUMA, Driver, properties

MIB = 1 << 20
ATTRIBUTES = range(1, 151)  # CUdevice_attribute
LIMITS = {"stack": 0, "printf": 1, "heap": 2}  # CUlimit


def card(driver: Driver) -> dict[str, object]:
    """Returns the card's properties once it has one context."""
    free, total = driver.memory()
    name = c.create_string_buffer(96)
    driver.call("cuDeviceGetName", name, 96, 0)
    version = c.c_int()
    driver.call("cuDriverGetVersion", c.byref(version))
    return {
        "name": name.value.decode(),
        "driver": version.value,
        "total": total,
        "used_with_one_context": total - free,
    }


def attributes(driver: Driver) -> dict[str, int]:
    found = {}
    for number in ATTRIBUTES:
        value = c.c_int(-1)
        status = driver.call("cuDeviceGetAttribute", c.byref(value), number, 0)
        found[str(number)] = value.value if status == 0 else -status
    return found


def granularities(driver: Driver) -> dict[str, object]:
    """Returns the minimum and the recommended size of cuMemCreate, by the place of the memory."""
    found: dict[str, object] = {}
    for name, place in (("device", DEVICE), ("host", HOST), ("host_numa", HOST_NUMA)):
        for option, number in (("minimum", 0), ("recommended", 1)):
            size, wanted = c.c_size_t(), properties(place)
            status = driver.call("cuMemGetAllocationGranularity", c.byref(size), c.byref(wanted), number)
            found[f"{name}.{option}"] = {"status": status, "bytes": size.value if status == 0 else 0}
    return found


def charge_of(driver: Driver, size: int) -> dict[str, int]:
    """Returns how many free bytes one cuMemAlloc takes, and whether its free returns them."""
    before = driver.free()
    status, address = driver.allocate(size)
    taken = before - driver.free()
    driver.release(address)
    return {
        "bytes": size,
        "status": status,
        "taken": taken,
        "kept_after_free": before - driver.free(),
        "address_modulo_granule": address % GRANULE,
    }


def charges(driver: Driver) -> list[dict[str, int]]:
    sizes = [1, 512, 4096, 65536, MIB - 512, MIB, MIB + 1, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 3 * MIB, 5 * MIB]
    sizes += [10 * MIB, 20 * MIB, 20 * MIB + 512, 31 * MIB, 32 * MIB, 33 * MIB, 63 * MIB + 4096, 1 << 30, (1 << 30) + 1]
    return [charge_of(driver, size) for size in sizes]


def small_ones(driver: Driver, size: int, count: int) -> dict[str, object]:
    """Makes `count` allocations of one size: returns the distances of their addresses, and when free bytes drop."""
    before = driver.free()
    addresses, taken = [], []
    for _ in range(count):
        addresses.append(driver.allocate(size)[1])
        taken.append(before - driver.free())
    steps = [after - first for first, after in itertools.pairwise(addresses)]
    for address in addresses[: count // 2]:
        driver.release(address)
    half = before - driver.free()
    for address in addresses[count // 2 :]:
        driver.release(address)
    return {
        "bytes": size,
        "first_modulo_granule": addresses[0] % GRANULE,
        "steps": steps,
        "taken": taken,
        "taken_when_the_first_half_is_freed": half,
        "taken_when_all_are_freed": before - driver.free(),
    }


def order_of_addresses(driver: Driver, size: int) -> dict[str, object]:
    """Makes six allocations, frees the second, fifth and third, and makes four more: returns their relative places."""
    first = [driver.allocate(size)[1] for _ in range(6)]
    for index in (1, 4, 2):
        driver.release(first[index])
    again = [driver.allocate(size)[1] for _ in range(4)]
    for address in [first[0], first[3], first[5], *again]:
        driver.release(address)
    return {
        "bytes": size,
        "first": [address - first[0] for address in first],
        "again": [address - first[0] for address in again],
    }


def reservations(driver: Driver) -> dict[str, object]:
    """Returns the places of address ranges, relative to the first."""
    found = [driver.reserve(size)[1] for size in (GRANULE, GRANULE, 64 * MIB, 1 << 30, GRANULE)]
    for address, size in zip(found, (GRANULE, GRANULE, 64 * MIB, 1 << 30, GRANULE), strict=True):
        driver.unreserve(address, size)
    hint = found[0] + (1 << 40)
    status, address = driver.reserve(GRANULE, hint=hint)
    driver.unreserve(address, GRANULE)
    huge_status, huge = driver.reserve(1 << 44)
    if huge_status == 0:
        driver.unreserve(huge, 1 << 44)
    before = driver.free()
    large = driver.reserve(1 << 40)[1]
    taken = before - driver.free()
    driver.unreserve(large, 1 << 40)
    return {
        "places": [address - found[0] for address in found],
        "modulo_granule": [address % GRANULE for address in found],
        "hint_is_honoured": status == 0 and address == hint,
        "sixteen_tib": huge_status,
        "one_tib_takes": taken,
    }


def chunks(driver: Driver) -> dict[str, object]:
    """Returns the memory that cuMemCreate, cuMemMap and cuMemSetAccess take, and their times (ns, not compared)."""
    found: dict[str, object] = {}
    for size in (GRANULE, 20 * MIB, 64 * MIB, 1 << 30):
        before, address = driver.free(), driver.reserve(size)[1]
        started = time.perf_counter_ns()
        handle = driver.create(size)[1]
        made, taken_made = time.perf_counter_ns(), before - driver.free()
        asked = time.perf_counter_ns()
        driver.map(address, size, handle)
        mapped = time.perf_counter_ns()
        driver.allow(address, size)
        allowed, taken_mapped = time.perf_counter_ns(), before - driver.free()
        driver.unmap(address, size)
        unmapped = time.perf_counter_ns()
        driver.release_handle(handle)
        released = time.perf_counter_ns()
        driver.unreserve(address, size)
        found[str(size)] = {
            "taken_by_create": taken_made,
            "taken_when_mapped": taken_mapped,
            "taken_at_the_end": before - driver.free(),
            "ns": {
                "create": made - started,
                "map": mapped - asked,
                "set_access": allowed - mapped,
                "unmap": unmapped - allowed,
                "release": released - unmapped,
            },
        }
    return found


def plain_times(driver: Driver) -> dict[str, object]:
    """Returns the times of cuMemAlloc and cuMemFree (ns, not compared)."""
    found: dict[str, object] = {}
    for size in (512, GRANULE, 20 * MIB, 64 * MIB, 1 << 30):
        started = time.perf_counter_ns()
        address = driver.allocate(size)[1]
        made = time.perf_counter_ns()
        driver.release(address)
        found[str(size)] = {"ns": {"allocate": made - started, "free": time.perf_counter_ns() - made}}
    return found


def host_backed(driver: Driver) -> dict[str, int]:
    """Returns the statuses of attempts to map host memory at device addresses."""
    found = {}
    for name, place in (("host", HOST), ("host_numa", HOST_NUMA)):
        status, handle = driver.create(GRANULE, place)
        found[f"{name}.create"] = status
        if status:
            continue
        before, address = driver.free(), driver.reserve(GRANULE)[1]
        found[f"{name}.map"] = driver.map(address, GRANULE, handle)
        found[f"{name}.set_access"] = driver.allow(address, GRANULE)
        found[f"{name}.fill"] = driver.fill(address, GRANULE, 3)
        found[f"{name}.taken"] = before - driver.free()
        driver.unmap(address, GRANULE)
        driver.unreserve(address, GRANULE)
        driver.release_handle(handle)
    return found


def _pool(driver: Driver) -> c.c_void_p:
    pool = c.c_void_p()
    driver.call("cuDeviceGetDefaultMemPool", c.byref(pool), 0)
    return pool


def stream_ordered(driver: Driver) -> dict[str, object]:
    """Returns what the pool of cuMemAllocAsync takes by size, and after a synchronisation and a trim."""
    found: dict[str, object] = {}
    pool = _pool(driver)
    for size in (1, GRANULE, 20 * MIB, 33 * MIB, 100 * MIB):
        before, address = driver.free(), c.c_uint64()
        status = driver.call("cuMemAllocAsync", c.byref(address), c.c_size_t(size), None)
        taken = before - driver.free()
        driver.call("cuMemFreeAsync", address, None)
        kept = before - driver.free()
        driver.call("cuCtxSynchronize")
        synchronized = before - driver.free()
        driver.call("cuMemPoolTrimTo", pool, c.c_size_t(0))
        found[str(size)] = {
            "status": status,
            "taken": taken,
            "after_free": kept,
            "after_synchronize": synchronized,
            "after_trim": before - driver.free(),
        }
    return found


def taken_by(driver: Driver, action: Callable[[], object]) -> int:
    before = driver.free()
    action()
    return before - driver.free()


def _make_streams(driver: Driver, count: int, flags: int) -> list[c.c_void_p]:
    streams = []
    for _ in range(count):
        stream = c.c_void_p()
        driver.call("cuStreamCreate", c.byref(stream), flags)
        streams.append(stream)
    return streams


def stream_steps(driver: Driver) -> list[int]:
    """Returns the memory of 1 to 200 streams, and after all are destroyed; needs a process that has made none yet."""
    before, streams, taken = driver.free(), [], []
    for _ in range(200):
        streams += _make_streams(driver, 1, 1)
        taken.append(before - driver.free())
    for stream in streams:
        driver.call("cuStreamDestroy_v2", stream)
    return [*taken, before - driver.free()]


def objects(driver: Driver) -> dict[str, object]:
    """Returns the card's bytes that streams, events, pinned memory and the context's limits take."""
    kept: list[object] = []
    found: dict[str, object] = {}
    for count in (1, 1, 8, 32, 128):
        found[f"streams.{len(kept)}"] = taken_by(driver, lambda n=count: kept.extend(_make_streams(driver, n, 1)))
    found["streams.destroyed"] = taken_by(driver, lambda: [driver.call("cuStreamDestroy_v2", s) for s in kept])
    events = [c.c_void_p() for _ in range(5000)]
    found["events.5000"] = taken_by(driver, lambda: [driver.call("cuEventCreate", c.byref(e), 2) for e in events])
    pinned = c.c_void_p()
    found["pinned.64MiB"] = taken_by(
        driver, lambda: driver.call("cuMemAllocHost_v2", c.byref(pinned), c.c_size_t(64 * MIB))
    )
    managed = c.c_uint64()
    found["managed.64MiB"] = taken_by(
        driver, lambda: driver.call("cuMemAllocManaged", c.byref(managed), c.c_size_t(64 * MIB), 1)
    )
    for name, limit in LIMITS.items():
        value = c.c_size_t()
        driver.call("cuCtxGetLimit", c.byref(value), limit)
        found[f"limit.{name}"] = value.value
    return found


def contexts(driver: Driver) -> dict[str, object]:
    """Returns the memory that a second context of the same process takes, and that a second process takes."""
    before, context = driver.free(), c.c_void_p()
    status = driver.call("cuCtxCreate_v4", c.byref(context), None, 0, 0)
    second = before - driver.free()
    driver.call("cuCtxDestroy_v2", context)
    after = before - driver.free()
    driver.call("cuCtxSetCurrent", driver.context)
    program = "import sys,driver; d=driver.Driver(); print(d.free(), flush=True); sys.stdin.read()"
    here = Path(__file__).parent
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=here
    ) as child:
        assert child.stdout
        child.stdout.readline()
        process = before - driver.free()
        child.communicate("")
    return {"create": status, "second": second, "after_destroy": after, "second_process": process}


def filled(driver: Driver) -> dict[str, object]:
    """Returns the largest cuMemAlloc that succeeds on a card with only the context, and the rest."""
    free = driver.free()
    found: dict[str, object] = {"free": free}
    size = free - free % GRANULE
    refused = 0
    status, address = driver.allocate(size)
    while status and refused < 512:
        refused, size = refused + 1, size - GRANULE
        status, address = driver.allocate(size)
    found |= {"largest": size, "granules_refused_before": refused, "left": driver.free()}
    found["another_granule"] = driver.allocate(GRANULE)[0]
    found["another_byte"] = driver.allocate(1)[0]
    found["create_granule"] = driver.create(GRANULE)[0]
    found["stream"] = driver.call("cuStreamCreate", c.byref(c.c_void_p()), 1)
    found["free_status"] = driver.release(address)
    found["more_than_the_card"] = driver.allocate(1 << 50)[0]
    found["zero"] = driver.allocate(0)[0]
    found["free_after"] = free - driver.free()
    return found


def main() -> int:
    driver = Driver()
    if driver.started:
        print(f"driver_facts.py: the CUDA driver does not start (status {driver.started})", file=sys.stderr)
        return 5
    facts: dict[str, object] = {"card": card(driver)}
    facts["attributes"] = attributes(driver)
    facts["granularities"] = granularities(driver)
    facts["charges"] = charges(driver)
    facts["small_ones"] = [small_ones(driver, *pair) for pair in ((1, 24), (1000, 24), (300 << 10, 24), (MIB, 12))]
    facts["order"] = [order_of_addresses(driver, size) for size in (4096, GRANULE, 20 * MIB)]
    facts["reservations"] = reservations(driver)
    facts["chunks"] = chunks(driver)
    facts["plain"] = plain_times(driver)
    facts["host_backed"] = host_backed(driver)
    facts["stream_ordered"] = stream_ordered(driver)
    facts["stream_steps"] = stream_steps(driver)
    facts["objects"] = objects(driver)
    facts["contexts"] = contexts(driver)
    facts["filled"] = filled(driver)
    json.dump(facts, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
