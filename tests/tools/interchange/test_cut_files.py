# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Files of other tools that end too early: their longest whole part is read, and a sentence names the place."""

import json
import pickle
import subprocess
from pathlib import Path

import pytest
from support.corpus import CORPUS
from support.json_object import JsonObject
from support.programs import MEMTRACE

MIB = 1 << 20
FRAMES = [{"filename": "a.py", "name": "f", "line": 3}]


def block(address: int, size: int) -> JsonObject:
    return {"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": FRAMES}


def segment(device: int) -> JsonObject:
    at = (device + 1) * 64 * MIB
    blocks = [block(at, MIB), block(at + MIB, 2 * MIB)]
    facts = {"device": device, "address": at, "total_size": 20 * MIB, "allocated_size": 3 * MIB, "stream": 0}
    return {**facts, "segment_pool_id": (0, 0), "blocks": blocks}


def history(device: int) -> list[JsonObject]:
    at = (device + 1) * 64 * MIB
    entries = [
        ("segment_alloc", at, 20), ("alloc", at, 1), ("alloc", at + MIB, 2), ("alloc", at + 4 * MIB, 1),
        ("free_requested", at + 4 * MIB, 1), ("free_completed", at + 4 * MIB, 1),
    ]  # fmt: skip
    return [
        {"action": action, "addr": address, "size": size * MIB, "stream": 0, "time_us": 1 + i, "frames": FRAMES}
        for i, (action, address, size) in enumerate(entries)
    ]


def snapshot(devices: int) -> JsonObject:
    return {
        "segments": [segment(device) for device in range(devices)],
        "device_traces": [history(device) for device in range(devices)],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""},
    }


def stats_of_cut(data: bytes, size: int, folder: Path) -> JsonObject | None:
    """Returns the figures of the first `size` bytes, None if they cannot be read; checks the messages in both cases."""
    file = folder / "cut.pickle"
    file.write_bytes(data[:size])
    done = subprocess.run([MEMTRACE, "stats", "--json", file], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (3, 4), (size, done.returncode, done.stderr)
    assert done.stderr.startswith("memtrace: ") and done.stderr.count("\n") == 1, (size, done.stderr)
    if done.returncode == 3:
        assert str(file) in done.stderr and not done.stdout
        assert size < 2 or "at byte" in done.stderr, (size, done.stderr)
        return None
    assert "PARTIAL: The file is cut short" in done.stderr and "at byte" in done.stderr
    figures: JsonObject = json.loads(done.stdout)
    return figures


def end_of(figures: JsonObject) -> list[tuple[int, int]]:
    return [(card["reserved"], card["allocated"]) for card in figures["devices"]]


@pytest.mark.parametrize("devices", [1, 2])  # picklers write other instructions for a single item
@pytest.mark.parametrize("protocol", [2, 4])
def test_snapshot_cut_at_every_byte(tmp_path: Path, devices: int, protocol: int) -> None:
    data = pickle.dumps(snapshot(devices), protocol)
    counts = []
    end: list[tuple[int, int]] = []
    for size in range(1, len(data)):
        figures = stats_of_cut(data, size, tmp_path)
        assert figures is not None or not counts
        if figures is None:
            continue
        counts.append(figures["events"]["allocations"])
        # A block that is known to exist at the end of a part is also known in longer parts.
        assert all(before in end_of(figures) for before in end)
        end = end_of(figures)
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == 3 * devices
    assert end == [(20 * MIB, 3 * MIB)] * devices


def test_bare_list_of_segments_cut_at_every_byte(tmp_path: Path) -> None:
    data = pickle.dumps(snapshot(2)["segments"])
    ends = [end_of(figures) for size in range(1, len(data)) if (figures := stats_of_cut(data, size, tmp_path))]
    assert [len(end) for end in ends] == sorted(len(end) for end in ends)
    assert ends[0] == [] and ends[-1] == [(20 * MIB, 3 * MIB)] * 2


def test_only_events_after_the_cut_are_missing(tmp_path: Path) -> None:
    data = pickle.dumps(snapshot(1))
    size = data.index(b"free_requested") + 5
    file = tmp_path / "cut.pickle"
    file.write_bytes(data[:size])
    done = subprocess.run(
        [MEMTRACE, "export", "--to", "jsonl", "-o", "-", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    told = [json.loads(line) for line in done.stdout.splitlines()]
    events = [event["event"] for event in told if event["event"] in ("alloc", "free_requested", "alive")]
    assert events == ["alloc"] * 3 + ["free_requested"] * 3 + ["alive"] * 2
    report = subprocess.run([MEMTRACE, "report", file], capture_output=True, text=True, check=False).stdout
    said = " ".join(report.split())
    assert "PARTIAL: The file is cut short: its last 10 bytes are not part of a whole record." in said


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.glob("snapshots/*.p*kl*")) or [""])
def test_published_snapshot_cut_at_200_places(tmp_path: Path, name: str) -> None:
    if not name:
        pytest.skip(f"no snapshots in {CORPUS} (set MEMTRACE_CORPUS)")
    data = (CORPUS / "snapshots" / name).read_bytes()
    done = subprocess.run([MEMTRACE, "stats", "--json", CORPUS / "snapshots" / name], capture_output=True, check=True)
    peaks = {card["index"]: card["peak"] for card in json.loads(done.stdout)["devices"]}
    read = 0
    for place in range(200):
        figures = stats_of_cut(data, 1 + (len(data) - 2) * place // 199, tmp_path)
        if figures is None:
            continue
        read += 1
        # A part never shows more than the whole.
        for card in figures["devices"]:
            assert card["peak"] <= peaks[card["index"]], place
    # stats refuses files that need more than 4 times their size and 256 MiB, so all of these needed less.
    assert read >= 195


def test_rmm_log_cut_at_every_byte(tmp_path: Path) -> None:
    lines = [f"1,10:00:00:{i:06},allocate,0x7f000000{i:02}00,{1000 + i},0x0\n" for i in range(10)]
    text = "Thread,Time,Action,Pointer,Size,Stream\n" + "".join(lines)
    whole = [len(text) - sum(map(len, lines[i:])) for i in range(11)]
    for size in range(1, len(text)):
        file = tmp_path / "log.csv"
        file.write_text(text[:size])
        command = [MEMTRACE, "import", "-f", "-o", tmp_path / "log.trace", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        rows = sum(1 for end in whole[1:] if end <= size)
        assert done.returncode == (3 if rows == 0 else 0 if size in whole else 4), (size, done.stderr)
        assert str(file) in done.stderr
        if done.returncode == 4:
            assert f"line {rows + 2}" in done.stderr
        if rows:
            stats = subprocess.run(
                [MEMTRACE, "stats", "--json", tmp_path / "log.trace"], capture_output=True, check=True
            )
            assert json.loads(stats.stdout)["events"]["allocations"] == rows
