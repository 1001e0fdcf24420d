# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A torch memory snapshot as a trace: what torch wrote down of its own allocator, put to our tools."""

import pickle
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.events import TRACE_TEXT

Snapshot = dict[str, Any]


class _DataOnly(pickle.Unpickler):
    """A snapshot is lists, dictionaries, strings and numbers; anything else in the file is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a snapshot holds no {module}.{name}")


def read_snapshot(path: Path) -> Snapshot:
    """Reads a snapshot without running anything that it holds. Raises pickle.UnpicklingError."""
    with path.open("rb") as file:
        snapshot: Snapshot = _DataOnly(file).load()
    return snapshot


def write_trace(snapshot: Snapshot, trace: Path) -> None:
    """Writes the snapshot's events, card by card, as a trace of torch's own allocator."""
    lines = ["info allocator native"]
    if settings := snapshot.get("allocator_settings", {}).get("PYTORCH_CUDA_ALLOC_CONF"):
        lines.append(f"info environment.PYTORCH_CUDA_ALLOC_CONF {settings}")
    for device, events in enumerate(snapshot["device_traces"]):
        lines += _lines(device, events, _Pools(snapshot["segments"], device))
    text = "\n".join(lines) + "\n"
    subprocess.run([TRACE_TEXT, "/dev/stdin", trace], input=text, text=True, timeout=100, check=True)


class _Pools:
    """Private pools of a card: a snapshot says of which the segments are that are there at its end."""

    def __init__(self, segments: list[dict[str, Any]], device: int) -> None:
        ids = [tuple(segment.get("segment_pool_id", (0, 0))) for segment in segments]
        numbers = {pool: number for number, pool in enumerate(sorted({(0, 0), *ids}))}
        self._ranges = [
            (segment["address"], segment["address"] + segment["total_size"], numbers[pool])
            for segment, pool in zip(segments, ids, strict=True)
            if segment["device"] == device and numbers[pool] != 0
        ]

    def of(self, address: int) -> int:
        return next((pool for begin, end, pool in self._ranges if begin <= address < end), 0)


def _lines(device: int, events: list[dict[str, Any]], pools: _Pools) -> Iterator[str]:
    for event in events:
        where = f"{device} {event.get('addr', 0):#x}"
        action, size = event["action"], event["size"]
        if action == "alloc":
            yield f"alloc {where} requested={size} stream={event['stream']} pool={pools.of(event['addr'])}"
        elif action in ("free_requested", "free_completed"):
            yield f"{action} {where}"
        elif action in ("segment_alloc", "segment_map"):
            yield f"map {where} size={size} stream={event['stream']}"
        elif action in ("segment_free", "segment_unmap"):
            yield f"unmap {where} size={size}"
        elif action == "oom":
            yield f"out_of_memory {device} requested={size} stream={event['stream']}"
            yield f"  card {device} free={event['device_free']}"
