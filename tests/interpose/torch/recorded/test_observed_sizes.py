# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Over torch's own allocator, a trace has torch's statistics at any moment: requested and allocated bytes."""

import json
import subprocess
from pathlib import Path

import pytest
from support.events import TRACE_TEXT
from support.programs import on_card

PROGRAM = Path(__file__).with_name("observed_sizes.py")
SETTINGS = (
    "",
    "expandable_segments:True",
    "roundup_power2_divisions:4",
    "max_split_size_mb:30",
    "garbage_collection_threshold:0.6,release_lock_on_cudamalloc:True",
)


def sums(trace: Path) -> dict[tuple[int, int, int], dict[str, int]]:
    """Returns the sums of blocks and segments, by the number of allocations, frees and completed frees so far."""
    text = subprocess.run([TRACE_TEXT, trace], capture_output=True, text=True, timeout=100, check=True).stdout
    live: dict[str, tuple[int, int]] = {}
    now = {"allocated": 0, "active": 0, "requested": 0, "reserved": 0}
    counts = {"alloc": 0, "free_requested": 0, "free_completed": 0}
    at = {}
    for line in text.splitlines():
        words = [word for word in line.split() if not word.startswith("@")]
        kind, values = words[0], dict(word.split("=", 1) for word in words if "=" in word)
        if kind == "alloc":
            requested, allocated = live[words[2]] = (int(values["requested"]), int(values["allocated"]))
            now["allocated"] += allocated
            now["active"] += allocated
            now["requested"] += requested
        elif kind == "free_requested":
            now["allocated"] -= live[words[2]][1]
        elif kind == "free_completed":
            requested, allocated = live.pop(words[2])
            now["active"] -= allocated
            now["requested"] -= requested
        elif kind in ("map", "unmap"):
            now["reserved"] += int(values["size"]) * (1 if kind == "map" else -1)
        if kind in counts:
            counts[kind] += 1
            at[counts["alloc"], counts["free_requested"], counts["free_completed"]] = dict(now)
    return at


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(
    ("events", "rounds"),
    [("lazy", 8), *(pytest.param(events, 20, marks=pytest.mark.slow) for events in ("lazy", "eager"))],
)
def test_sums_equal_torchs(tmp_path, settings, events, rounds):
    options = ("--allocator", "native", "--events", events)
    finished = on_card(
        PROGRAM, tmp_path, "1", str(rounds), card="1GiB", options=options, PYTORCH_CUDA_ALLOC_CONF=settings
    )
    at = sums(finished.trace)
    told = [json.loads(line) for line in finished.out.splitlines()]
    assert len(told) == rounds
    assert max(moment["allocated"] - moment["requested"] for moment in told) > 1 << 20 or "expand" in settings
    for moment in told:
        key = (moment.pop("born"), moment.pop("gone"), moment.pop("completed"))
        assert {name: at[key][name] for name in ("allocated", "active", "requested")} == {
            name: moment[name] for name in ("allocated", "active", "requested")
        }
