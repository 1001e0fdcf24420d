# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the smallest share of the card that is enough for a training, as JSON: MiB that the process may reserve.

Usage: smallest_card.py [TAG]. Each trial is train.py in a process of its own with torch's
set_per_process_memory_fraction, between the training's peak of requested bytes and its reserved bytes without a limit;
the answer is the smallest multiple of 32 MiB that was enough.
"""

import json
import subprocess
import sys
from pathlib import Path

STEP = 32 << 20
LIMITED = """
import runpy, sys, torch
limit = int(sys.argv.pop(1))
total = torch.cuda.get_device_properties(0).total_memory
if limit:
    torch.cuda.set_per_process_memory_fraction(limit / total)
try:
    runpy.run_path(sys.argv.pop(1), run_name="__main__")
except torch.OutOfMemoryError:
    sys.exit(3)
"""


def trial(limit: int) -> dict[str, int] | None:
    """Returns the training's figures under a limit of `limit` bytes (0: none); None if it runs out of memory."""
    program = str(Path(__file__).with_name("train.py"))
    command = [sys.executable, "-c", LIMITED, str(limit), program, "--steps", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    free = trial(0)
    assert free is not None
    low, high = free["requested"] // STEP, -(-free["reserved"] // STEP)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if trial(middle * STEP) is None else (low, middle)
    found = {"requested": free["requested"], "reserved": free["reserved"], "smallest_MiB": high * STEP >> 20}
    print(json.dumps({"tag": sys.argv[1] if len(sys.argv) > 1 else "", **found}))


if __name__ == "__main__":
    main()
