# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads every format of `memtrace export` with other programs' readers: the figures are those of exported.TRACE."""

import collections
import csv
import gzip
import json
import sqlite3
from pathlib import Path

import pytest
from exported import MIB, PEAK, PEAK_ROLES, export, write_trace
from support.json_object import JsonObject


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trace(tmp_path_factory.mktemp("export"))


def test_csv_has_one_line_per_event(trace: Path) -> None:
    rows = list(csv.DictReader(export(trace, "csv").open(newline="")))
    kinds = collections.Counter(row["event"] for row in rows)
    assert kinds == {
        "reserve": 1, "map": 2, "alloc": 5, "relabel": 2, "step": 2, "phase": 2, "free_requested": 3,
        "free_completed": 2, "out_of_memory": 1, "annotate": 1,
    }  # fmt: skip
    first = next(row for row in rows if row["event"] == "alloc")
    assert (first["address"], first["size"], first["role"], first["owner"]) == (
        "0x7f0000000000", str(40 * MIB), "parameter", "policy",
    )  # fmt: skip
    assert first["site"] == "model.py:3"
    freed = [row for row in rows if row["event"] == "free_requested"]
    assert [int(row["size"]) for row in freed] == [30 * MIB, 60 * MIB, 8 * MIB]
    assert next(row["module"] for row in rows if row["size"] == str(30 * MIB)) == 'layers."1"'
    assert json.loads(rows[-2]["detail"]) == {"key": 'odd "key"', "value": "a, b"}


FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1+1", "\r=1", "\uff1d1+1", "'=1"]
PLAIN = ["a=b", "1-2", "it's", " =1", "layers.0"]


def test_csv_texts_are_not_formulas(tmp_path: Path) -> None:
    lines = ["map 0 0x7f0000000000 size=200MiB"]
    for number, name in enumerate([*FORMULAS, *PLAIN]):
        lines.append(f'alloc 0 {0x7F0000000000 + number * MIB:#x} requested=1MiB owner="{name}"')
    trace = write_trace(tmp_path, "\n".join(lines) + "\n")
    rows = csv.DictReader(export(trace, "csv").open(newline=""))
    owners = [row["owner"] for row in rows if row["event"] == "alloc"]
    assert owners[: len(FORMULAS)] == ["'" + name for name in FORMULAS]
    assert owners[len(FORMULAS) :] == PLAIN


def test_jsonl_defines_stacks_before_their_use(trace: Path) -> None:
    lines = [json.loads(line) for line in export(trace, "jsonl").open()]
    assert (lines[0]["event"], lines[0]["schema"], lines[0]["rank"]) == ("run", "memtrace.events/1", "3")
    stacks: dict[int, list[JsonObject]] = {}
    for line in lines:
        if line["event"] == "stack":
            stacks[line["stack"]] = line["frames"]
        elif "stack" in line:
            assert line["stack"] in stacks
    assert [{"function": ";odd", "file": "/home/ada/train.py", "line": 9}] in [frames[1:] for frames in stacks.values()]
    failed = next(line for line in lines if line["event"] == "out_of_memory")
    assert failed["detail"]["cards"][0]["reserved"] == 200 * MIB


def test_sqlite_views_add_up_to_the_peak(trace: Path) -> None:
    base = sqlite3.connect(export(trace, "sqlite"))
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert base.execute("PRAGMA user_version").fetchone() == (1,)
    roles = base.execute("select role, role_known, bytes from peak_by_role where device = 0").fetchall()
    assert {(role, known): size for role, known, size in roles} == PEAK_ROLES
    assert base.execute("select bytes from peaks order by device").fetchall() == [(PEAK,), (8 * MIB,)]
    assert base.execute("select owner, bytes from peak_by_owner where device = 0 and owner = 'policy'").fetchall() == [
        ("policy", 56 * MIB)
    ]
    assert base.execute("select value from meta where key = 'rank'").fetchone() == ("3",)
    alive = base.execute("select count(*) from blocks where death_sequence is null").fetchone()
    assert alive == (3,)
    assert base.execute("select sum(size) from segments where expandable = 1").fetchone() == (200 * MIB,)
    assert base.execute("select requested, obtainable from ooms").fetchall() == [(500 * MIB, 144 * MIB)]
    frames = base.execute(
        "select function, line from stack_lines l join blocks b on b.stack = l.stack where b.size = ? order by depth",
        (40 * MIB,),
    ).fetchall()
    assert frames == [("build", 3), ("<module>", 1)]


def test_parquet_agrees_with_sqlite(trace: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="an independent reader of Parquet")
    out = export(trace, "parquet")
    base = sqlite3.connect(export(trace, "sqlite"))
    for table in ("events", "blocks"):
        file = out.with_name(f"out.{table}.parquet")
        ours = duckdb.sql(f"select count(*), sum(size) from '{file}'").fetchall()
        assert ours == base.execute(f"select count(*), sum(size) from {table}").fetchall()
    blocks = out.with_name("out.blocks.parquet")
    assert duckdb.sql(f"select stack from '{blocks}' where size = {40 * MIB}").fetchall() == [
        ("build (model.py:3)\n<module> (train.py:1)",)
    ]
    assert duckdb.sql(f"select sum(size) from '{blocks}' where at_peak = 1 and device = 0").fetchall() == [(PEAK,)]


def test_collapsed_stacks_add_up_to_each_peak(trace: Path) -> None:
    sums: collections.Counter[str] = collections.Counter()
    for line in export(trace, "collapsed").read_text().splitlines():
        stack, size = line.rsplit(" ", 1)
        sums[stack.split(";")[0]] += int(size)
    assert sums == {"GPU 0": PEAK, "GPU 1": 8 * MIB}
    text = export(trace, "collapsed").read_text()
    assert f"GPU 0;parameter;<module> (train.py:1);build (model.py:3) {40 * MIB}\n" in text
    assert f"GPU 0;activation;_odd (train.py:9);step (train.py:9) {60 * MIB}\n" in text


def test_speedscope_profiles_add_up_to_each_peak(trace: Path) -> None:
    file = json.loads(export(trace, "speedscope").read_text())
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [frame["name"] for frame in file["shared"]["frames"]]
    sums = []
    for profile in file["profiles"]:
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "bytes", 0)
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"]
        assert {names[sample[0]] for sample in profile["samples"]} <= {"parameter", "gradient", "unknown", "activation"}
        sums.append(profile["endValue"])
    assert sums == [PEAK, 8 * MIB]


def test_pprof_values_add_up(trace: Path) -> None:
    pytest.importorskip("google.protobuf", reason="an independent reader of protobuf")
    from pprof_messages import profile

    read = profile()
    read.ParseFromString(gzip.decompress(export(trace, "pprof").read_bytes()))
    text = read.string_table
    assert [(text[t.type], text[t.unit]) for t in read.sample_type] == [
        ("inuse_space", "bytes"), ("inuse_objects", "count"), ("alloc_space", "bytes"), ("alloc_objects", "count"),
    ]  # fmt: skip
    totals = [sum(sample.value[i] for sample in read.sample) for i in range(4)]
    assert totals == [PEAK + 8 * MIB, 5, PEAK + 8 * MIB, 5]
    known = {location.id for location in read.location}
    assert all(set(sample.location_id) <= known for sample in read.sample)
    roles: collections.Counter[str] = collections.Counter()
    for sample in read.sample:
        labels = {text[label.key]: text[label.str] for label in sample.label}
        roles[labels["role"]] += sample.value[0] if labels["card"] == "0" else 0
    assert roles["parameter"] == 40 * MIB and roles["activation"] == 90 * MIB
    assert read.time_nanos == 1_700_000_000_000_000_000


def test_perfetto_counters_reach_the_peak(trace: Path) -> None:
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="Perfetto's own messages")
    read = protos.Trace()
    read.ParseFromString(export(trace, "perfetto").read_bytes())
    tracks: dict[int, str] = {}
    names: dict[int, str] = {}
    highest: collections.Counter[str] = collections.Counter()
    last: dict[str, int] = {}
    seen: list[str] = []
    for packet in read.packet:
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            parent = tracks.get(descriptor.parent_uuid, "")
            tracks[descriptor.uuid] = f"{parent}/{descriptor.name}"
            continue
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        event = packet.track_event
        if event.type == protos.TrackEvent.TYPE_COUNTER:
            track = tracks[event.track_uuid]
            highest[track] = max(highest[track], event.counter_value)
            last[track] = event.counter_value
        elif event.name_iid:
            seen.append(names[event.name_iid])
            if names[event.name_iid] == "out of memory":
                arguments = {a.name: a.int_value for a in event.debug_annotations}
                assert (arguments["requested"], arguments["obtainable"]) == (500 * MIB, 144 * MIB)
    assert highest["//GPU 0/live"] == PEAK and last["//GPU 0/live"] == 56 * MIB
    assert highest["//GPU 0/reserved"] == 200 * MIB
    assert highest["//GPU 0 by role/activation"] == 90 * MIB and last["//GPU 0 by role/activation"] == 0
    assert highest["//GPU 0 by owner/policy"] == 56 * MIB
    assert seen == ["peak of GPU 1", "step 1", "forward", "peak of GPU 0", "backward", "step 2", "out of memory"]
    begun = sum(packet.track_event.type == protos.TrackEvent.TYPE_SLICE_BEGIN for packet in read.packet)
    ended = sum(packet.track_event.type == protos.TrackEvent.TYPE_SLICE_END for packet in read.packet)
    assert begun == ended == 4


def test_chrome_json_has_the_profilers_format(trace: Path) -> None:
    file = json.loads(export(trace, "chrome").read_text())
    assert file["distributedInfo"]["rank"] == 3 and file["distributedInfo"]["world_size"] == 8
    memory = [event["args"] for event in file["traceEvents"] if event["name"] == "[memory]"]
    assert max(args["Total Allocated"] for args in memory if args["Device Id"] == 0) == PEAK
    assert sum(args["Bytes"] for args in memory if args["Device Id"] == 0) == 56 * MIB
    steps = [event for event in file["traceEvents"] if event["name"].startswith("ProfilerStep#")]
    assert [(event["name"], event["ph"]) for event in steps] == [("ProfilerStep#1", "X"), ("ProfilerStep#2", "X")]
