# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs small torch programs and prints the allocations of each: peaks and requested sizes, one JSON line each.

Usage: torch_sizes.py GROUP [GROUP ...] >FILE, or torch_sizes.py --list. Bytes; `sizes` are the sizes of torch's own
allocator in the order of the requests, so that the workspace of a library can be recognised.
"""

import gc
import importlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import TypedDict

import torch

GROUPS = (
    "products",
    "convolutions",
    "normalizations",
    "recurrent",
    "attention",
    "algebra",
    "solvers",
    "reductions",
    "models",
)
LONGEST = 400  # further sizes are replaced by their number and their sum

Program = Callable[[], object]


def _start() -> None:
    gc.collect()
    torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


class HistoryEntry(TypedDict):
    """The fields used of an entry of torch's history, in bytes."""

    action: str
    addr: int
    size: int


def _events() -> list[HistoryEntry]:
    traces = torch.cuda.memory._snapshot()["device_traces"]
    return traces[0] if traces else []


def _segments(events: list[HistoryEntry]) -> list[list[int]]:
    """Returns sizes and addresses of the segments in the order in which torch took them; frees have negative sizes."""
    signs = {"segment_alloc": 1, "segment_free": -1}
    return [[signs[e["action"]] * e["size"], e["addr"]] for e in events if e["action"] in signs]


def measure(program: Program) -> dict[str, object]:
    """Runs a program, starting with an empty cache."""
    _start()
    before = torch.cuda.memory_allocated()
    torch.cuda.memory._record_memory_history(context=None, stacks="python", max_entries=200_000)
    error = None
    try:
        program()
        torch.cuda.synchronize()
    except Exception as caught:
        error = f"{type(caught).__name__}: {str(caught).splitlines()[0][:200]}"
    events = _events()
    sizes = [event["size"] for event in events if event["action"] == "alloc"]
    torch.cuda.memory._record_memory_history(enabled=None)
    found = {
        "peak": torch.cuda.max_memory_allocated() - before,
        "reserved": torch.cuda.max_memory_reserved(),
        "allocations": len(sizes),
        "sum": sum(sizes),
    }
    if len(sizes) <= LONGEST:
        found["sizes"] = sizes
    segments = _segments(events)
    if len(segments) <= LONGEST:
        found["segments"] = segments
    return found | ({"error": error} if error else {})


def programs(groups: Iterable[str]) -> Iterable[tuple[str, Program]]:
    for group in groups:
        for name, program in importlib.import_module(f"sizes_{group}").PROGRAMS.items():
            yield f"{group}.{name}", program


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        print("\n".join(GROUPS))
        return 0
    unknown = [group for group in sys.argv[1:] if group not in GROUPS]
    if unknown or len(sys.argv) < 2:
        print(f"torch_sizes.py: no group {unknown}; known are {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    torch.manual_seed(0)
    torch.empty(1, device="cuda")
    for name, program in programs(sys.argv[1:]):
        print(json.dumps({"name": name, **measure(program)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
