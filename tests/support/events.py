# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks of a recorded run, one by one, for tests about all of them, not only the peak."""

import math
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from support.programs import BUILD

TRACE_TEXT = BUILD / "tests" / "support" / "trace_text"


@dataclass
class Block:
    """An allocation as stated at its birth, and the roles stated of it since, with their bytes."""

    device: int
    address: int
    bytes: int  # requested
    owner: str
    module: str
    stack: str
    step: int
    phase: str
    micro_batch: int
    labels: list[dict[str, str]] = field(default_factory=list)
    number: int = 0  # among the allocations of its card, from 1
    freed_as: float = math.inf  # among the frees of its card, from 1
    parts: list[tuple[int, int, str]] = field(default_factory=list)  # labelled parts: begin, end, role

    def bytes_by_role(self) -> Counter[str]:
        """Returns its bytes, each under the latest role that was stated of it, or ""."""
        cuts = sorted({0, self.bytes, *(min(end, self.bytes) for _, end, _ in self.parts), *(p[0] for p in self.parts)})
        sums: Counter[str] = Counter()
        for begin, end in pairwise(cuts):
            sums[next((role for low, high, role in reversed(self.parts) if low <= begin < high), "")] += end - begin
        return sums

    @property
    def role(self) -> str:
        """The latest role that was stated; "" without one."""
        return self.labels[-1]["role"] if self.labels else ""

    @property
    def final_owner(self) -> str:
        """The owner in the latest label that has one, else that of the allocation."""
        return next((label["owner"] for label in reversed(self.labels) if "owner" in label), self.owner)


def blocks(trace: Path) -> list[Block]:
    """Returns every block of the trace, in order."""
    text = subprocess.run([TRACE_TEXT, trace], capture_output=True, text=True, timeout=100, check=True).stdout
    step, phase, micro_batch = 0, "other", 0
    born: list[Block] = []
    live: dict[tuple[int, int], Block] = {}
    allocations: Counter[int] = Counter()
    frees: Counter[int] = Counter()
    for line in text.splitlines():
        words = shlex.split(line) if '"' in line else line.split()
        if words[0].startswith("@"):
            del words[0]
        values = dict(word.split("=", 1) for word in words if "=" in word)
        if words[0] == "alloc":
            block = Block(
                int(words[1]),
                int(words[2], 16),
                int(values["requested"]),
                values.get("owner", ""),
                values.get("module", ""),
                values.get("stack", ""),
                step,
                phase,
                micro_batch,
            )
            allocations[block.device] += 1
            block.number = allocations[block.device]
            born.append(block)
            live[block.device, block.address] = block
        elif words[0] == "free_requested":
            frees[int(words[1])] += 1
            if freed := live.pop((int(words[1]), int(words[2], 16)), None):
                freed.freed_as = frees[int(words[1])]
        elif words[0] == "relabel":
            _label(live, int(words[1]), int(words[2], 16), values)
        elif words[0] == "step":
            step, micro_batch = int(words[1]), 0
        elif words[0] == "phase":
            phase, micro_batch = words[1], int(values.get("micro_batch", micro_batch))
    return born


def _label(live: dict[tuple[int, int], Block], device: int, address: int, values: dict[str, str]) -> None:
    """Adds a label, which may cover only a part of a block; without a size it covers all from `address` on."""
    block = live.get((device, address))
    if block is not None:
        block.labels.append(values)
    else:
        within = (b for b in live.values() if b.device == device and b.address < address < b.address + b.bytes)
        block = next(within, None)
    if block is not None:
        begin = address - block.address
        end = begin + int(values["size"]) if "size" in values else block.bytes
        block.parts.append((begin, end, values["role"]))


def alive(found: Iterable[Block], device: int, born: int, gone: int) -> list[Block]:
    """Returns the blocks in use on the card after that many allocations and frees."""
    return [b for b in found if b.device == device and b.number <= born and b.freed_as > gone]


def bytes_by(found: Iterable[Block], *names: str) -> dict[tuple[object, ...], int]:
    """Returns the requested bytes of the blocks, by some of their properties."""
    sums: Counter[tuple[object, ...]] = Counter()
    for block in found:
        sums[tuple(getattr(block, name) for name in names)] += block.bytes
    return dict(sums)


def annotations(trace: Path) -> dict[str, str]:
    """Returns the annotations of the trace by key; the latest value counts."""
    text = subprocess.run([TRACE_TEXT, trace], capture_output=True, text=True, timeout=100, check=True).stdout
    found = {}
    for line in text.splitlines():
        words = line.split(maxsplit=3)
        if words[1:2] == ["annotate"]:
            found[words[2]] = " ".join(shlex.split(words[3])) if len(words) > 3 else ""
    return found
