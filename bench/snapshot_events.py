# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A torch memory snapshot (torch.cuda.memory._dump_snapshot) as a trace in text form.

profiler/trace/text/text_trace.h describes the form.

Usage: snapshot_events.py SNAPSHOT >EVENTS.txt

Of each card the allocations and frees of its trace, in their order, with its index, addresses, requested bytes and
streams. Only a snapshot whose trace is complete says what the program asked for: what was alive before is not in it.
"""

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, TypedDict


class TraceEvent(TypedDict, total=False):
    """What is read of an entry of a card's trace. Bytes."""

    action: str
    addr: int
    size: int
    stream: int


class Snapshot(TypedDict):
    """What is read of a snapshot: a trace for each card."""

    device_traces: list[list[TraceEvent]]


class _DataOnly(pickle.Unpickler):
    """A snapshot is lists, dictionaries, strings and numbers; anything else in the file is refused."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"a snapshot holds no {module}.{name}; this file is something else, or a trap")


def read_snapshot(path: Path) -> Snapshot:
    """Reads a snapshot without running anything that it holds. Raises pickle.UnpicklingError."""
    with path.open("rb") as file:
        snapshot: Snapshot = _DataOnly(file).load()
    return snapshot


def events(snapshot: Snapshot) -> Iterator[str]:
    """Gives the lines of the trace; the frees of what was alive before it are left out."""
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
