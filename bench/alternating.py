# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs alternatives in processes that take turns, so that all see the same drift of the machine.

Most often these are our allocator and torch's own: a benchmark script calls `prepare` in its `--child` process, before
torch, and `alternate` in its parent. A script with other alternatives uses `way()` to find its child's.
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
Said = Any  # the JSON that a child prints; its own script knows the structure


def way() -> str:
    """Returns the alternative that the parent chose for this child."""
    return os.environ[ENVIRONMENT]


def prepare(ours: bool | None = None) -> None:
    """Sets up the simulated card, and our allocator if `ours`; by default unless the way is "native" or "history".

    The way "unrecorded" uses our allocator without recording; "cupti" also records the card's activities; "observed"
    and "unobserved" do that with --spill, which observes torch's operations then. Host values are off, because they are
    a cost of the card and not of the recorder (see host_values_step.py).
    """
    import memtrace

    os.environ["MEMTRACE_HOST_VALUES"] = "0"
    memtrace.simulated_card("80GiB")
    is_spilling = way() in ("observed", "unobserved")
    os.environ["MEMTRACE_CUPTI"] = "1" if way() == "cupti" or is_spilling else "0"
    if is_spilling:
        os.environ["MEMTRACE_SPILL"] = "1GiB"
    if way() == "unrecorded":
        os.environ["MEMTRACE_TRACE"] = "0"
    if way() not in ("native", "history") if ours is None else ours:
        memtrace.enable()


def measure(script: str, arguments: list[str], chosen: str, folder: str) -> Said:
    """Runs `script --child` with this alternative in a process of its own; returns the JSON of its last line."""
    environment = {**os.environ, ENVIRONMENT: chosen, "MEMTRACE_OUTPUT": f"{folder}/{time.time_ns()}.trace"}
    command = [sys.executable, script, "--child", *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternate(
    script: str, arguments: list[str], rounds: int, ways: tuple[str, ...] = ALLOCATORS
) -> Iterator[tuple[Said, ...]]:
    """Yields, `rounds` times, the JSON of each alternative's child, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            yield tuple(measure(script, arguments, chosen, folder) for chosen in ways)


READY = "ready for a turn"


def in_turn(script: str, arguments: list[str], ways: tuple[str, str], turns: int) -> list[Said]:
    """Runs `script --child` of both ways at the same time, with `turns` pieces of work that they do alternately.

    A child calls `wait_for_turn` before each piece and finally prints JSON, which this returns. So the pieces that are
    compared are milliseconds apart: a machine that runs at two speeds changes between pairs, not within one. The order
    is always the same, because a child that had two turns in a row would find its caches warm, and win that turn.
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
    """Lets the other child of `in_turn` work; called in a child before each piece of its own work."""
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
    """Returns the minimum, the median and the maximum of some ratios as text."""
    return f"min {min(values):.3f}  median {statistics.median(values):.3f}  max {max(values):.3f}"
