# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Converts a torch memory snapshot (torch.cuda.memory._dump_snapshot) to a trace in text form.

profiler/trace/text/text_trace.h describes the form.

Usage: snapshot_events.py SNAPSHOT >EVENTS.txt

Writes the allocations and frees of each card's trace, in their order, with the card's index, addresses, requested bytes
and streams. The result is complete only if the snapshot's trace is: blocks that were alive before it are left out.
"""

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, TypedDict


class TraceEvent(TypedDict, total=False):
    """The fields used of an entry of a card's trace, in bytes."""

    action: str
    addr: int
    size: int
    stream: int


class Snapshot(TypedDict):
    """The part used of a snapshot: a trace for each card."""

    device_traces: list[list[TraceEvent]]


class _DataOnly(pickle.Unpickler):
    """Accepts only lists, dictionaries, strings and numbers, of which a snapshot consists."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"a snapshot holds no {module}.{name}; this file is something else, or a trap")


def read_snapshot(path: Path) -> Snapshot:
    """Reads a snapshot without running any code in it. Raises pickle.UnpicklingError."""
    with path.open("rb") as file:
        snapshot: Snapshot = _DataOnly(file).load()
    return snapshot


def events(snapshot: Snapshot) -> Iterator[str]:
    """Yields the lines of the trace, without the frees of blocks that were alive before it."""
    for device, trace in enumerate(snapshot["device_traces"]):
        alive = set()
        for event in trace:
            action, address = event["action"], event.get("addr")
            if action == "alloc" and event["size"] > 0:
                alive.add(address)
                yield f"alloc {device} {address:#x} requested={event['size']} stream={event['stream']}"
            elif action in ("free_requested", "free_completed") and address in alive:
                yield f"{action} {device} {address:#x}"
                if action == "free_completed":
                    alive.discard(address)


def main() -> None:
    print("# of a torch memory snapshot")
    for line in events(read_snapshot(Path(sys.argv[1]))):
        print(line)


if __name__ == "__main__":
    main()
