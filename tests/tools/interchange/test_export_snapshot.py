# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads `memtrace export --to snapshot` with torch's own functions, and by the rules of MemoryViz.js."""

import collections
import itertools
import pickle
import pickletools
import subprocess
from pathlib import Path

import pytest
from exported import MIB, export, write_trace
from support.json_object import JsonObject
from support.programs import BUILD, MEMTRACE

# The opcodes that MemoryViz.js executes and we need; it throws on GLOBAL, REDUCE, BINBYTES, BINUNICODE8 and others.
UNDERSTOOD = {
    "PROTO", "EMPTY_DICT", "EMPTY_LIST", "MARK", "BINUNICODE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET",
    "BININT", "BININT1", "BININT2", "LONG1", "NEWTRUE", "NEWFALSE", "TUPLE2", "APPENDS", "SETITEMS", "STOP",
}  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(write_trace(tmp_path_factory.mktemp("snapshot")), "snapshot")


@pytest.fixture(scope="module")
def snapshot(file: Path) -> JsonObject:
    return pickle.loads(file.read_bytes())  # our own


def test_totals_agree_with_the_trace(snapshot: JsonObject) -> None:
    sizes = collections.Counter({(s["device"], s["is_expandable"]): s["total_size"] for s in snapshot["segments"]})
    assert sizes == {(0, True): 200 * MIB, (1, False): 20 * MIB}
    first, second = snapshot["segments"]
    assert first["allocated_size"] == first["active_size"] == first["requested_size"] == 56 * MIB
    assert (second["allocated_size"], second["active_size"]) == (0, 8 * MIB)  # its free waits
    for segment in snapshot["segments"]:
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at
            at += block["size"]
        assert at == segment["address"] + segment["total_size"]
    assert [b["state"] for b in second["blocks"]] == ["active_pending_free", "inactive"]


def test_history_has_what_the_viewer_needs(snapshot: JsonObject) -> None:
    history = snapshot["device_traces"][0]
    assert [e["action"] for e in history] == [
        "segment_map", "alloc", "alloc", "alloc", "alloc", "free_requested", "free_completed", "free_requested",
        "free_completed", "oom", "snapshot",
    ]  # fmt: skip
    for before, after in itertools.pairwise(history):
        if before["action"] == "free_requested":
            assert (after["action"], after["addr"]) == ("free_completed", before["addr"])
    assert "unknown" in {e["category"] for e in history if "category" in e}
    assert history[1]["category"] == "parameter" and "path=lm_head.weight" in history[1]["user_metadata"]
    assert history[1]["frames"][0] == {"filename": "/home/ada/model.py", "line": 3, "name": "build"}
    assert "addr" not in history[9] and history[9]["device_free"] == 100 * MIB
    assert history[1]["time_us"] // 1_000_000 == 1_700_000_000
    stages = [(a["name"], a["stage"]) for a in snapshot["external_annotations"]]
    assert stages[:2] == [("step 1", "START"), ("forward", "START")] and ("step 2", "END") in stages


def test_viewer_can_execute_every_instruction(tmp_path: Path) -> None:
    lines = ["map 0 0x7f0000000000 size=1GiB"]
    for i in range(5000):
        lines += [f"alloc 0 {0x7F0000000000 + i * 4096:#x} requested=4KiB stack=step@t.py:9"]
    (tmp_path / "many.txt").write_text("\n".join(lines))
    subprocess.run(
        [BUILD / "tests" / "support" / "trace_text", tmp_path / "many.txt", tmp_path / "many.trace"], check=True
    )
    subprocess.run([MEMTRACE, "export", "--to", "snapshot", "-o", "m.pickle", "many.trace"], cwd=tmp_path, check=True)
    batches, names, depth = [], collections.Counter(), []
    for opcode, argument, _ in pickletools.genops((tmp_path / "m.pickle").read_bytes()):
        names[opcode.name] += 1
        if opcode.name == "PROTO":
            assert argument == 2
        if opcode.name == "MARK":
            depth.append(0)
        elif opcode.name in ("APPENDS", "SETITEMS"):
            batches.append((opcode.name, depth.pop()))
        elif opcode.name == "EMPTY_DICT" and depth:
            depth[-1] += 1
    assert set(names) <= UNDERSTOOD
    assert max(size for name, size in batches if name == "APPENDS") == 1000
    loaded = pickle.loads((tmp_path / "m.pickle").read_bytes())
    history = loaded["device_traces"][0]
    frames = {id(e["frames"]) for e in history if e["action"] == "alloc"}
    assert len(frames) == 1 and len(history) == 5002


def test_torch_viewer_accepts_the_snapshot(snapshot: JsonObject) -> None:
    viz = pytest.importorskip("torch.cuda._memory_viz", reason="torch's own viewer")
    assert "200.0MiB" in viz.segsum(snapshot)
    assert "raise OutOfMemoryError" in viz.trace(snapshot)
    assert "MemoryViz.js" in viz.trace_plot(snapshot) and "MemoryViz.js" in viz.segment_plot(snapshot)
