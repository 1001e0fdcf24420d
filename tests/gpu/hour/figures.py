# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the figures that a part of hour.sh left in a file, each under a name of its own."""

import json
import re
from pathlib import Path
from typing import Any

# Times, values that a simulated card does not compute, words, and figures that depend on other programs on the card.
LEFT_OUT = {
    *("ns", "ms", "us", "step_ms", "seconds", "losses", "last_loss"),
    *("from", "text", "torch", "nccl", "name", "device_name", "tag"),
    *("file", "pid", "time_ns"),
}
# A stage of a scenario: "step 0 forward   gpu0 alloc  16.356 peak  16.372 reserved  16.400 peak_reserved ..."
STAGE = re.compile(r"^(.+?)\s+gpu(\d+) alloc\s+([\d.]+) peak\s+([\d.]+) reserved\s+([\d.]+)", re.M)


def figures(path: Path) -> dict[str, Any]:
    """Reads a JSON document, lines of JSON, or a scenario's stages; empty if the file holds none, or is cut off."""
    try:
        return parsed(path)
    except ValueError:  # A probe that was ended in the middle of its output lacks all its figures.
        return {}


def parsed(path: Path) -> dict[str, Any]:
    """Does so; raises ValueError if a line or document is no JSON."""
    text = path.read_text(errors="replace")
    if path.suffix == ".txt":
        return of_stages(text)
    if path.suffix == ".json":
        return dict(leaves(json.loads(text), "")) if text.strip() else {}
    found: dict[str, Any] = {}
    for row in (json.loads(line) for line in text.splitlines() if line.startswith("{")):
        found.update(leaves(row, str(row.get("name") or row.get("tag") or "")))
    return found


def of_stages(text: str) -> dict[str, Any]:
    """Returns the GiB of each stage, as they are printed."""
    return {
        f"{name}, card {card}, {what}": value
        for name, card, *values in STAGE.findall(text)
        for what, value in zip(("allocated", "peak", "reserved"), values, strict=True)
    }


def leaves(value: Any, name: str) -> list[tuple[str, Any]]:
    """Returns each number, truth value or word within `value`, and each list of numbers, by its path."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if key not in LEFT_OUT}
        return [
            leaf for key, inner in kept.items() for leaf in leaves(relative(key, inner), f"{name}.{key}".strip("."))
        ]
    if isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        return [leaf for at, inner in enumerate(value) for leaf in leaves(inner, f"{name}[{at}]")]
    return [(name, value)]


def relative(key: str, value: Any) -> Any:
    """Replaces addresses, which differ from run to run, by their distances from the first, which do not."""
    if key == "addresses" and value:
        return [address - value[0] for address in value]
    if key == "segments" and isinstance(value, list):  # else their number
        return [size for size, _ in value]
    return value
