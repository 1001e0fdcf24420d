# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what it takes to take memory away from behind an address, to give it back, and to put host memory there.

Usage: moving.py >FILE, which gets JSON: microseconds, GB/s (10^9 bytes a second), statuses of CUDA, and True if the
contents were as they have to be. Run it while nothing else uses the card.
"""

import ctypes as c
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from driver import DEVICE, HOST, HOST_NUMA, Driver

MIB, GIB = 1 << 20, 1 << 30
PLACES = {"device": DEVICE, "host": HOST, "host_numa": HOST_NUMA}


class Raw:
    """Bytes at an address of the card, which torch.as_tensor makes a tensor of."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


def tensor_at(address: int, size: int, dtype: torch.dtype = torch.uint8) -> torch.Tensor:
    return torch.as_tensor(Raw(address, size), device="cuda").view(dtype)


def microseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - started) / 1e3


class Region:
    """An address range of `size` bytes over chunks of one size and place."""

    def __init__(self, driver: Driver, size: int, chunk: int, place: int = DEVICE) -> None:
        self.driver, self.size, self.chunk = driver, size, chunk
        self.address = driver.reserve(size)[1]
        self.handles: list[int] = []
        self.statuses = set()
        self.make(place)

    def make(self, place: int) -> None:
        for _ in range(self.size // self.chunk):
            status, handle = self.driver.create(self.chunk, place)
            self.statuses.add(status)
            self.handles.append(handle)

    def map(self) -> None:
        for index, handle in enumerate(self.handles):
            self.statuses.add(self.driver.map(self.address + index * self.chunk, self.chunk, handle))

    def allow(self) -> None:
        self.statuses.add(self.driver.allow(self.address, self.size))

    def allow_each(self) -> None:
        for index in range(len(self.handles)):
            self.statuses.add(self.driver.allow(self.address + index * self.chunk, self.chunk))

    def unmap(self) -> None:
        self.statuses.add(self.driver.unmap(self.address, self.size))

    def unmap_each(self) -> None:
        for index in range(len(self.handles)):
            self.statuses.add(self.driver.unmap(self.address + index * self.chunk, self.chunk))

    def drop(self) -> None:
        for handle in self.handles:
            self.statuses.add(self.driver.release_handle(handle))
        self.handles = []

    def leave(self) -> None:
        self.driver.unreserve(self.address, self.size)

    def end(self) -> None:
        """Gives all of it back, once nothing uses it."""
        torch.cuda.synchronize()
        self.unmap()
        self.drop()
        self.leave()


def remapping(driver: Driver, size: int, chunk: int, place: int = DEVICE) -> dict[str, object]:
    """Returns the times of the calls that put a gigabyte away and back, the first time and again, in microseconds."""
    times: dict[str, float] = {}
    started = time.perf_counter_ns()
    region = Region(driver, size, chunk, place)
    times["create"] = (time.perf_counter_ns() - started) / 1e3
    steps = (
        ("map", region.map),
        ("set_access, one call", region.allow),
        ("unmap, one call", region.unmap),
        ("map again", region.map),
        ("set_access, each", region.allow_each),
        ("unmap, each", region.unmap_each),
        ("release", region.drop),
        ("create again", lambda: region.make(place)),
        ("map a third time", region.map),
        ("set_access, one call again", region.allow),
        ("unmap, one call again", region.unmap),
        ("release again", region.drop),
    )
    for name, call in steps:
        times[name] = round(microseconds(call), 1)
    region.leave()
    return {"bytes": size, "chunk": chunk, "statuses": sorted(region.statuses), "us": times}


def during_a_kernel(driver: Driver) -> dict[str, float]:
    """Returns how long each call takes while a kernel of some 100 ms runs that has nothing to do with it."""
    found = {}
    region = Region(driver, 20 * MIB, 20 * MIB)
    spare = driver.allocate(64 * MIB)[1]
    stream = torch.cuda.Stream()

    def call_during(name: str, call: Callable[[], object]) -> None:
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
        found[name] = round(microseconds(call), 1)
        found[f"{name}: kernel still ran"] = not stream.query()
        torch.cuda.synchronize()

    call_during("create", lambda: region.make(DEVICE))
    call_during("map", lambda: driver.map(region.address, region.chunk, region.handles[0]))
    call_during("set_access", region.allow)
    call_during("unmap", region.unmap)
    call_during("release", region.drop)
    call_during("cuMemFree", lambda: driver.release(spare))
    call_during("cuMemAlloc", lambda: found.update(address=driver.allocate(64 * MIB)[1]))
    call_during("host_numa create", lambda: region.make(HOST_NUMA))
    driver.release(int(found.pop("address")))
    region.drop()
    region.leave()
    return found


def speed(call: Callable[[], object], moved: int) -> float:
    """Returns GB/s: bytes moved by a call, over the median time of it on the card."""
    times = []
    for _ in range(6):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return round(moved / statistics.median(times[1:]) / 1e9, 2)


def mapped(driver: Driver, size: int, chunk: int, place: int) -> Region:
    region = Region(driver, size, chunk, place)
    region.map()
    region.allow()
    return region


def host_speeds(driver: Driver) -> dict[str, object]:
    """Returns the speed of kernels and copies on a gigabyte of the card's memory and of the host's."""
    found: dict[str, object] = {}
    other = torch.zeros(GIB, dtype=torch.uint8, device="cuda")
    for name, place in PLACES.items():
        region = mapped(driver, GIB, 64 * MIB, place)
        if region.statuses != {0}:
            found[name] = {"statuses": sorted(region.statuses)}
            continue
        data = tensor_at(region.address, GIB)
        floats = data.view(torch.float32)
        found[name] = {
            "fill": speed(lambda d=data: d.zero_(), GIB),
            "read (sum)": speed(lambda f=floats: f.sum(), GIB),
            "read and write (add_)": speed(lambda f=floats: f.add_(1), 2 * GIB),
            "copied to the card": speed(lambda d=data: other.copy_(d), GIB),
            "copied from the card": speed(lambda d=data: d.copy_(other), GIB),
        }
        del data, floats
        region.end()
    return found


def optimizer_speeds(driver: Driver) -> dict[str, object]:
    """Returns the milliseconds of AdamW's step over 268 million parameters with states on the card and on the host."""
    found: dict[str, object] = {}
    for name, place in (("device", DEVICE), ("host_numa", HOST_NUMA)):
        for kind in ("fused", "foreach"):
            parameters = [torch.nn.Parameter(torch.ones(1 << 24, device="cuda")) for _ in range(16)]
            optimizer = torch.optim.AdamW(parameters, lr=1e-4, **{kind: True})
            region = mapped(driver, 2 * GIB, 64 * MIB, place)
            for parameter in parameters:
                parameter.grad = torch.ones_like(parameter)
            optimizer.step()
            for index, parameter in enumerate(parameters):
                for number, key in enumerate(("exp_avg", "exp_avg_sq")):
                    at = region.address + (2 * index + number) * 64 * MIB
                    optimizer.state[parameter][key] = tensor_at(at, 64 * MIB, torch.float32).zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            optimizer.step()
            begin.record()
            for _ in range(3):
                optimizer.step()
            end.record()
            end.synchronize()
            found[f"{name}, {kind}"] = {
                "ms": round(begin.elapsed_time(end) / 3, 2),
                "value": round(parameters[3][7].item(), 7),
                "statuses": sorted(region.statuses),
            }
            del optimizer, parameters
            region.end()
    return found


def moved_to_the_host(driver: Driver) -> dict[str, object]:
    """Moves chunks with their contents from the card to the host behind the same address, and back."""
    region = mapped(driver, 256 * MIB, 64 * MIB, DEVICE)
    data = tensor_at(region.address, region.size, torch.int32)
    data.copy_(torch.arange(data.numel(), device="cuda", dtype=torch.int32))
    expected = int(data.long().sum().item())
    found: dict[str, object] = {"free_before": driver.free()}

    def move(place: int) -> float:
        other = mapped(driver, region.size, region.chunk, place)
        torch.cuda.synchronize()
        started = time.perf_counter_ns()
        driver.call("cuMemcpyDtoD_v2", c.c_uint64(other.address), c.c_uint64(region.address), c.c_size_t(region.size))
        driver.call("cuCtxSynchronize")
        region.unmap()
        region.drop()
        other.unmap()
        region.handles, other.handles = other.handles, []
        region.map()
        region.allow()
        took = (time.perf_counter_ns() - started) / 1e3
        other.leave()
        region.statuses |= other.statuses
        return round(took, 1)

    found["to the host, us"] = move(HOST_NUMA)
    found["free_with_all_on_the_host"] = driver.free()
    found["contents there"] = int(data.long().sum().item()) == expected
    found["back, us"] = move(DEVICE)
    found["contents back"] = int(data.long().sum().item()) == expected
    found["statuses"] = sorted(region.statuses)
    return found


def graph_over_moved_memory(driver: Driver) -> dict[str, object]:
    """Captures a graph over a mapping, puts other memory behind its addresses, and replays it."""
    region = mapped(driver, 64 * MIB, 64 * MIB, DEVICE)
    data = tensor_at(region.address, region.size, torch.float32)
    data.zero_()
    out = torch.zeros_like(data)
    torch.add(data, 1, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.add(data, 1, out=out)
    found: dict[str, object] = {}
    for name, place in (("other memory of the card", DEVICE), ("memory of the host", HOST_NUMA)):
        torch.cuda.synchronize()
        region.unmap()
        region.drop()
        region.make(place)
        region.map()
        region.allow()
        data.fill_(5)
        graph.replay()
        found[name] = bool((out == 6).all().item())
    found["statuses"] = sorted(region.statuses)
    return found


def touch(how: str) -> None:
    """Touches unmapped memory; prints the status. For a process of its own, whose context ends with it."""
    driver = Driver()
    region = mapped(driver, 4 * MIB, 2 * MIB, DEVICE)
    data = tensor_at(region.address, region.size)
    other = torch.zeros(4 * MIB, dtype=torch.uint8, device="cuda")
    data.zero_()
    torch.cuda.synchronize()
    driver.unmap(region.address + 2 * MIB, 2 * MIB)
    try:
        if how == "kernel":
            data.add_(1)
            torch.cuda.synchronize()
        elif how == "torch copy":
            other.copy_(data)
            torch.cuda.synchronize()
        else:
            status = {
                "memset": lambda: driver.fill(region.address, 4 * MIB),
                "copy to the host": lambda: driver.copy_to_host(region.address, 4 * MIB),
            }[how]()
            print(json.dumps(status))
            return
    except RuntimeError as error:
        print(json.dumps(str(error).splitlines()[0]))
        return
    print(json.dumps("nothing"))


def touches() -> dict[str, object]:
    found = {}
    for how in ("kernel", "torch copy", "memset", "copy to the host"):
        done = subprocess.run(
            [sys.executable, __file__, "--touch", how], capture_output=True, text=True, cwd=Path(__file__).parent
        )
        found[how] = json.loads(done.stdout or "null")
    return found


def main() -> None:
    if sys.argv[1:2] == ["--touch"]:
        touch(sys.argv[2])
        return
    torch.ones(1, device="cuda").add_(1)
    driver = Driver()
    found: dict[str, object] = {"card": torch.cuda.get_device_name(), "processors": os.cpu_count()}
    sections: dict[str, Callable[[], object]] = {
        "remapping": lambda: [remapping(driver, GIB, chunk * MIB) for chunk in (2, 16, 64, 256, 1024)],
        "remapping of 4 GiB": lambda: remapping(driver, 4 * GIB, 64 * MIB),
        "remapping, host": lambda: [remapping(driver, GIB, chunk * MIB, HOST_NUMA) for chunk in (16, 64, 1024)],
        "during a kernel": lambda: during_a_kernel(driver),
        "speeds, GB/s": lambda: host_speeds(driver),
        "AdamW": lambda: optimizer_speeds(driver),
        "moved": lambda: moved_to_the_host(driver),
        "graph": lambda: graph_over_moved_memory(driver),
        "touching unmapped memory": touches,
    }
    for name, section in sections.items():
        started = time.perf_counter()
        try:
            found[name] = section()
        except RuntimeError as error:
            found[name] = {"error": str(error)[:300]}
        print(f"moving.py: {name}, {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
