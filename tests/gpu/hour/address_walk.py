# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the addresses that cuMemAlloc returns for given allocations and frees, as JSON.

Usage: address_walk.py >FILE. A walk is a list of steps: a size in MiB to allocate, or minus the index of the allocation
to free. Each walk runs in a process of its own. Prints the absolute addresses in the order of the allocations.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from driver import Driver

MIB = 1 << 20
TORCH = [2, 20, 20, 2, 20, 38, 20, 74, 148, 2, 20, 296, 20, 50, 2, 590, 20, 20, 1180, 2, 24, 22, 26, 2]
WALKS: dict[str, list[float]] = {
    "twos": [2] * 48,
    "twenties": [20] * 24,
    "thirties": [32] * 12,
    "hundreds": [100] * 12,
    "growing": [float(2 * size) for size in range(1, 40)],
    "doubling": [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 2, 4, 8, 16, 32, 64, 128],
    "shrinking": [4096, 2048, 1024, 512, 256, 128, 64, 32, 20, 16, 8, 4, 2, 2, 20, 20],
    "torch": [float(size) for size in TORCH],
    "free one and ask again": [20, 20, 20, 20, -1, 20, 20],
    "free two and ask again": [20, 20, 20, 20, 20, -1, -3, 20, 20, 20],
    "free neighbours and ask for both": [20, 20, 20, 20, 20, -2, -3, 40, 20],
    "free and ask for less": [100, 100, 100, -1, 20, 20, 20, 20],
    "free and ask for more": [20, 20, 20, -1, 22, 20],
    "free all and ask again": [20, 20, 20, 20, -0.5, -1, -2, -3, 20, 20, 20, 20],
    "twos freed": [2, 2, 2, 2, 2, 2, -1, -4, -2, 2, 2, 2, 2],
    "twos freed and a twenty": [2] * 12 + [-2, -3, -4, -5, -6, -7, -8, -9, -10, 20, 2, 2, 2],
    "torch, emptied and again": [float(size) for size in TORCH]
    + [-index for index in range(1, len(TORCH))]
    + [float(size) for size in TORCH],
}


def walk(steps: list[float]) -> list[int]:
    """Runs the steps; -0.5 frees the first allocation, whose index 0 has no sign."""
    driver, addresses = Driver(), []
    for step in steps:
        if step < 0:
            driver.release(addresses[0 if step == -0.5 else int(-step)])
        else:
            addresses.append(driver.allocate(int(step * MIB))[1])
    return addresses


def walked(name: str) -> dict[str, object]:
    """Returns a walk and its addresses, or the process's error message."""
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, timeout=60, check=False)
    return {"steps": WALKS[name], "addresses": json.loads(done.stdout) if done.returncode == 0 else done.stderr}


def main() -> int:
    if len(sys.argv) > 1:
        print(json.dumps(walk(WALKS[sys.argv[1]])))
        return 0
    with ThreadPoolExecutor(6) as pool:
        found = dict(zip(WALKS, pool.map(walked, WALKS), strict=True))
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
