# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Our allocator against torch's own, in processes that alternate, so that both see the same drift of the machine.

A benchmark script calls `prepare` in its `--child` process, before torch, and `alternate` in its parent.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

ALLOCATORS = ("memtrace", "native")
ENVIRONMENT = "BENCH_ALLOCATOR"


def prepare() -> None:
    """Puts the simulated card, and the allocator that the parent chose, in place."""
    import memtrace

    memtrace.simulated_card("80GiB")
    if os.environ[ENVIRONMENT] == "memtrace":
        memtrace.enable()


def measure(script: str, arguments: list[str], allocator: str, folder: str) -> Any:
    """Runs `script --child` with this allocator in a process of its own; gives the JSON of its last line."""
    environment = {**os.environ, ENVIRONMENT: allocator, "MEMTRACE_OUTPUT": f"{folder}/{time.time_ns()}.trace"}
    command = [sys.executable, script, "--child", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternate(script: str, arguments: list[str], pairs: int) -> Iterator[tuple[Any, Any]]:
    """Gives, `pairs` times, what our allocator's child printed and what the native one's did."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(pairs):
            ours, native = (measure(script, arguments, allocator, folder) for allocator in ALLOCATORS)
            yield ours, native
