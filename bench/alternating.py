# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Ways to do the same, in processes that alternate, so that all see the same drift of the machine.

Most often our allocator against torch's own: a benchmark script calls `prepare` in its `--child` process, before torch,
and `alternate` in its parent. A script with other ways asks `way()` which one its child is to go.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

ALLOCATORS = ("memtrace", "native")
ENVIRONMENT = "BENCH_WAY"
Said = Any  # the JSON that a child prints: its own script knows what that is


def way() -> str:
    """The way that the parent chose for this child."""
    return os.environ[ENVIRONMENT]


def prepare(ours: bool | None = None) -> None:
    """Puts the simulated card in place, and our allocator if `ours` or, where that is open, unless the way is native.

    The way "unrecorded" has our allocator alone, "cupti" records what the card does, too.

    Host values are off: they are the card's cost and not the recorder's (host_values_step.py has it).
    """
    import memtrace

    os.environ["MEMTRACE_HOST_VALUES"] = "0"
    memtrace.simulated_card("80GiB")
    os.environ["MEMTRACE_CUPTI"] = "1" if way() == "cupti" else "0"
    if way() == "unrecorded":
        os.environ["MEMTRACE_TRACE"] = "0"
    if way() not in ("native", "history") if ours is None else ours:
        memtrace.enable()


def measure(script: str, arguments: list[str], chosen: str, folder: str) -> Said:
    """Runs `script --child` this way in a process of its own; gives the JSON of its last line."""
    environment = {**os.environ, ENVIRONMENT: chosen, "MEMTRACE_OUTPUT": f"{folder}/{time.time_ns()}.trace"}
    command = [sys.executable, script, "--child", *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternate(
    script: str, arguments: list[str], rounds: int, ways: tuple[str, ...] = ALLOCATORS
) -> Iterator[tuple[Said, ...]]:
    """Gives, `rounds` times, what the child of each way printed, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            yield tuple(measure(script, arguments, chosen, folder) for chosen in ways)


READY = "ready for a turn"


def in_turn(script: str, arguments: list[str], ways: tuple[str, str], turns: int) -> list[Said]:
    """Has `script --child` of both ways live at the same time and do `turns` pieces of their work, one after the other.

    A child calls `wait_for_turn` before each piece and says JSON in the end, which this gives. So the pieces that are
    compared are milliseconds apart: a machine that runs at two speeds changes between pairs, not within one. The order
    is always the same: who goes on where it left off finds its caches warm, and would win that turn.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        children = [stack.enter_context(_child(script, arguments, chosen, folder)) for chosen in ways]
        for child in children:
            _until_ready(child)
        said: list[str] = []
        for turn in range(turns):
            for child in children:
                child.stdin.write("go\n")
                child.stdin.flush()
                if turn + 1 < turns:
                    _until_ready(child)
                else:
                    said.append(child.communicate()[0])
        return [json.loads(text.strip().splitlines()[-1]) for text in said]


def wait_for_turn() -> None:
    """In a child of `in_turn`, before each piece of its work: lets the other do its own."""
    print(READY, flush=True)
    sys.stdin.readline()


def _child(script: str, arguments: list[str], chosen: str, folder: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, ENVIRONMENT: chosen, "MEMTRACE_OUTPUT": f"{folder}/{chosen}.trace"}
    command = [sys.executable, script, "--child", *arguments]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _until_ready(child: "subprocess.Popen[str]") -> None:
    for line in child.stdout:
        if line.strip() == READY:
            return
    raise RuntimeError(f"a child ended with status {child.wait()}")


def spread(values: list[float]) -> str:
    """Says the least, the median and the greatest of some ratios."""
    return f"min {min(values):.3f}  median {statistics.median(values):.3f}  max {max(values):.3f}"
