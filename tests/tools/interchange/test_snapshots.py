# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch's memory snapshots as input: their facts must come out, and none of their code may run."""

import json
import os
import pickle
from pathlib import Path

import pytest
from support.corpus import CORPUS
from support.json_object import JsonObject
from support.programs import memtrace

INDEX = CORPUS / "snapshots" / "INDEX.md"
MIB = 1 << 20


def index() -> list[dict[str, str]]:
    """Returns the rows of the corpus's own table, which other tools computed."""
    if not INDEX.exists():
        return []
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")] for line in INDEX.read_text().splitlines()]
    head = next(row for row in rows if row[0] == "file")
    return [dict(zip(head, row, strict=True)) for row in rows if row[0].endswith((".pickle", ".pkl"))]


def devices(path: Path) -> list[dict[str, int]]:
    done = memtrace("stats", "--json", str(path))
    assert done.status == 0, done.err
    figures: list[dict[str, int]] = json.loads(done.out)["devices"]
    return figures


def test_totals_of_published_snapshots_match_the_index() -> None:
    rows = index()
    if not rows:
        pytest.skip(f"no {INDEX} (set MEMTRACE_CORPUS)")
    assert len(rows) == 17
    for row in rows:
        cards = devices(INDEX.with_name(row["file"]))
        for key in ("reserved", "allocated", "peak"):
            said = "/".join(str(card[key]) for card in cards)
            assert row[key] in (said, "-"), (row["file"], key)


def test_published_out_of_memory_is_capacity() -> None:
    path = next(iter(CORPUS.glob("snapshots/Constructor-Sun*")), None)
    if path is None:
        pytest.skip(f"no snapshots in {CORPUS} (set MEMTRACE_CORPUS)")
    report = json.loads(memtrace("report", "--json", str(path)).out)
    assert report["verdict"]["cause"] == "capacity"
    assert report["verdict"]["short_by"] == 5_308_694_528 - 95_682_560
    ledger = {entry["name"]: entry["bytes"] for entry in report["ledger"]}
    assert ledger["free"] == 95_682_560
    assert ledger["cached"] + ledger["holes"] + ledger["rounding"] == 84_202_749_952 - 84_063_351_764
    sites = [holder["site"] for holder in report["holdings"]]
    assert sites[:3] == ["models.py:174", "models.py:181", "models.py:176"]


def test_published_snapshot_has_unknown_card_sizes_and_uneven_load() -> None:
    path = next(iter(CORPUS.glob("snapshots/Constructor-Sun*")), None)
    if path is None:
        pytest.skip(f"no snapshots in {CORPUS} (set MEMTRACE_CORPUS)")
    report = json.loads(memtrace("report", "--json", str(path)).out)
    assert [card["bytes_known"] for card in report["cards"]] == [False] * 3
    assert "The load is uneven: cards 0, 1, 2 have 7.5, 78.3, 18.8 GiB in use." in report["verdict"]["sentence"]
    assert not any(", fits" in row["name"] for row in report["remedies"])
    text = memtrace("report", "--verbose", str(path)).out
    assert "free of" not in text
    assert "The card's size is not in the trace." in text


def entry(action: str, address: int, size: int, time: int = 0, **more: object) -> JsonObject:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time, **more}


def test_memory_without_an_allocation_event_existed_before(tmp_path: Path) -> None:
    blocks = [{"address": 8 * MIB, "size": MIB, "requested_size": MIB - 7, "state": "active_allocated", "frames": []}]
    segment = {"device": 0, "address": 8 * MIB, "total_size": 20 * MIB, "allocated_size": MIB, "stream": 0}
    history = [
        entry("free_requested", 9 * MIB, 3 * MIB),
        entry("free_completed", 9 * MIB, 3 * MIB),
        entry("segment_free", 64 * MIB, 2 * MIB),
    ]
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": [{**segment, "blocks": blocks}], "device_traces": [history]}))
    (card,) = devices(file)
    assert card == {"index": 0, "reserved": 20 * MIB, "allocated": MIB, "peak": 4 * MIB - 7, "requested": MIB - 7}


LAST = (1 << 64) - 1
SEGMENT = {"device": 0, "address": 8 * MIB, "total_size": 2 * MIB, "allocated_size": 0, "stream": 0, "blocks": []}
BLOCK = {"address": LAST - 511, "size": MIB, "requested_size": MIB, "state": "active_allocated", "frames": []}


@pytest.mark.parametrize(
    ("snapshot", "part"),
    [
        ({"segments": [{**SEGMENT, "address": -1}]}, "a segment of device 0 has 2097152 bytes at address 0xffff"),
        ({"segments": [{**SEGMENT, "total_size": 1 << 62}]}, "a segment of device 0 has 4611686018427387904 bytes"),
        ({"segments": [{**SEGMENT, "blocks": [BLOCK]}]}, "a block of device 0 has 1048576 bytes at address 0xffff"),
        ({"device_traces": [[], [entry("alloc", LAST, 512)]]}, "an entry of device_traces of device 1 has 512 bytes"),
    ],
)
@pytest.mark.parametrize("verb", ["report", "stats", "tree", "diff"])
def test_impossible_range_is_rejected(tmp_path: Path, snapshot: JsonObject, part: str, verb: str) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": [], "device_traces": [], **snapshot}))
    done = memtrace(verb, *[str(file)] * (2 if verb == "diff" else 1))
    assert (done.status, done.out) == (3, "")
    assert part in done.err and "which no card can have" in done.err


def test_segment_at_address_0_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": [{**SEGMENT, "address": 0}], "device_traces": []}))
    for verb in ("report", "tree"):
        assert memtrace(verb, str(file)).status == 0
    assert devices(file)[0]["reserved"] == 2 * MIB


@pytest.mark.parametrize(("action", "said"), [("alloc", "from the start"), ("free_completed", "in the middle")])
def test_report_states_whether_events_are_complete(tmp_path: Path, action: str, said: str) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": [], "device_traces": [[entry(action, MIB, 512)]]}))
    text = " ".join(memtrace("report", str(file)).out.split())
    assert said in text and "context, other processes" in text and "LOST" not in text


def test_events_of_all_cards_are_ordered_by_time(tmp_path: Path) -> None:
    traces = [
        [entry("alloc", 1 * MIB, 512, time=10), entry("alloc", 2 * MIB, 512, time=40)],
        [entry("alloc", 3 * MIB, 512, time=20), entry("oom", 0, 9 * MIB, time=30, device_free=5 * MIB)],
    ]
    del traces[1][1]["addr"]
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": [], "device_traces": traces}))
    done = memtrace("export", "--to", "jsonl", "-o", "-", str(file))
    assert done.status == 0, done.err
    told = [json.loads(line) for line in done.out.splitlines()]
    addresses = [int(event["address"], 16) for event in told if event["event"] == "alloc"]
    assert addresses == [1 * MIB, 3 * MIB, 2 * MIB]
    report = json.loads(memtrace("report", "--json", str(file)).out)
    assert (report["verdict"]["cause"], report["verdict"]["short_by"]) == ("capacity", 4 * MIB)


class Trap:
    """Leaves a file behind if it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", range(6))
def test_pickle_that_would_run_code_is_rejected(tmp_path: Path, protocol: int) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": [Trap(tmp_path / "sprung")], "device_traces": []}, protocol))
    done = memtrace("report", str(file))
    assert done.status == 3 and str(file) in done.err and done.err.count("\n") == 1
    assert protocol < 2 or "more than data" in done.err
    assert not (tmp_path / "sprung").exists()
