# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace import`: files of torch.profiler and RMM become traces with the same figures; others are refused."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from exported import MIB, PEAK, export, write_trace
from support.json_object import JsonObject
from support.programs import MEMTRACE, memtrace


def run_import(file: Path) -> tuple[int, str]:
    done = subprocess.run(
        [MEMTRACE, "import", "-f", "-o", file.with_suffix(".trace"), file], capture_output=True, text=True, check=False
    )
    assert not done.stdout
    return done.returncode, done.stderr


def stats(file: Path) -> JsonObject:
    return json.loads(memtrace("stats", "--json", str(file.with_suffix(".trace"))).out)


def memory(
    ts: float, address: int, size: int, allocated: int, reserved: int, device: int = 0, kind: int = 1
) -> JsonObject:
    return {
        "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": ts,
        "args": {"Total Reserved": reserved, "Total Allocated": allocated, "Bytes": size, "Addr": address,
                 "Device Id": device, "Device Type": kind, "Ev Idx": 1},
    }  # fmt: skip


def python(ts: float, dur: float, name: str, kind: str = "python_function") -> JsonObject:
    return {"ph": "X", "cat": kind, "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur, "args": {}}


WITHOUT_ADDRESS = memory(2, 0, 8, 16, 0)
del WITHOUT_ADDRESS["args"]["Addr"]

PROFILE = {
    "schemaVersion": 1,
    "distributedInfo": {"backend": "nccl", "rank": 5, "world_size": 8},
    "baseTimeNanoseconds": 1_700_000_000_000_000_000,
    "traceEvents": [
        # Kineto does not write events in order of time.
        python(100.0, 900.0, "train.py(31): step"),
        python(150.0, 100.0, "nn.Module: Linear_0"),
        python(160.0, 50.0, "aten::mm", "cpu_op"),
        python(300.0, 10.0, "train.py(99): not_around_it"),
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 7, "tid": 7, "ts": 90.0, "dur": 950.0},
        memory(400.0, 0x7F0000000000, -2 * MIB, 12 * MIB, 20 * MIB),
        memory(170.0, 0x7F0000000000, 2 * MIB, 14 * MIB, 20 * MIB),
        memory(180.0, 0x55, 4096, 4096, 0, -1, 0),  # of the host
        memory(500.0, 0x7E0000000000, -4 * MIB, 8 * MIB, 20 * MIB),  # was there before
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 200.0, "dur": 3.0},
    ],
}


def write(folder: Path, text: str, name: str = "profile.json") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_profile_becomes_a_trace_with_its_stacks(tmp_path: Path) -> None:
    file = write(tmp_path, json.dumps(PROFILE))
    code, err = run_import(file)
    assert code == 0
    assert f"{8 * MIB} bytes of card 0 were allocated before the profile began" in err
    assert "one block of owner 'before the profile'" in err
    found = stats(file)
    assert found["devices"][0]["reserved"] == 20 * MIB
    # This is the profiler's count: blocks that exist all the time are neither free nor missing from the peak.
    assert found["devices"][0]["peak"] == 14 * MIB and found["devices"][0]["allocated"] == 8 * MIB
    lines = [json.loads(line) for line in export(file.with_suffix(".trace"), "jsonl").open()]
    frames = next(line["frames"] for line in lines if line["event"] == "stack")
    assert [(f["function"], f["file"], f["line"]) for f in frames] == [
        ("aten::mm", "", 0), ("nn.Module: Linear_0", "", 0), ("step", "train.py", 31),
    ]  # fmt: skip
    assert [line["step"] for line in lines if line["event"] == "alloc"] == [4]
    assert lines[0]["rank"] == "5"


def test_compressed_profile_is_read(tmp_path: Path) -> None:
    file = tmp_path / "profile.pt.trace.json.gz"
    file.write_bytes(gzip.compress(json.dumps(PROFILE).encode()))
    assert memtrace("import", str(file), "-o", str(tmp_path / "profile.trace")).status == 0
    assert stats(tmp_path / "profile")["devices"][0]["peak"] == 14 * MIB


def test_truncated_compressed_profile_gives_its_prefix(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(PROFILE).encode())
    file = tmp_path / "profile.json.gz"
    for kept, code in ((len(packed) - 4, 4), (len(packed) - 40, 4), (12, 3), (2, 3)):
        file.write_bytes(packed[:kept])
        done = memtrace("import", "-f", "-o", str(tmp_path / "profile.trace"), str(file))
        assert done.status == code, (kept, done.err)
        assert "Traceback" not in done.err and done.err.startswith("memtrace: ")


def test_compression_bomb_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "profile.json.gz"
    file.write_bytes(gzip.compress(b"[" + b" " * (256 * MIB)))
    done = memtrace("import", "-o", str(tmp_path / "profile.trace"), str(file))
    assert done.status == 3 and "unpacks to more than" in done.err


@pytest.mark.parametrize("verb", ["report", "stats", "tree"])
def test_verbs_that_read_traces_suggest_import(tmp_path: Path, verb: str) -> None:
    plain = write(tmp_path, json.dumps(PROFILE, indent=2))
    packed = tmp_path / "profile.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for file in (plain, packed):
        done = memtrace(verb, str(file))
        assert done.status == 3 and "memtrace import converts it into a trace" in done.err


def test_git_lfs_pointer_is_recognised(tmp_path: Path) -> None:
    file = write(tmp_path, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a.pickle")
    for verb in ("report", "stats", "tree", "verify"):
        done = memtrace(verb, str(file))
        assert done.status == 3 and "git lfs pull" in done.err + done.out


def test_chrome_export_is_imported_with_the_same_figures(tmp_path: Path) -> None:
    trace = write_trace(tmp_path)
    file = export(trace, "chrome").rename(tmp_path / "back.json")
    assert run_import(file)[0] == 0
    first, second = stats(file)["devices"]
    assert (first["peak"], first["allocated"], first["reserved"]) == (PEAK, 56 * MIB, 200 * MIB)
    assert second["peak"] == 8 * MIB


def test_truncated_profile_gives_its_longest_prefix(tmp_path: Path) -> None:
    text = json.dumps(PROFILE)
    counts = []
    for cut in range(0, len(text), 37):
        file = write(tmp_path, text[:cut])
        code, err = run_import(file)
        assert code in (3, 4) and "Traceback" not in err and err.startswith("memtrace: ")
        counts.append(stats(file)["events"]["allocations"] if code == 4 else 0)
    assert counts == sorted(counts) and counts[-1] == 1


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ("hello", "is not torch.profiler's JSON or an RMM log"),
        ("{}", 'no "traceEvents"'),
        ('{"traceEvents": {}}', "no list of events"),
        ('{"traceEvents": []}', "no memory event"),
        ('{"traceEvents": ' + "[" * 1_000_000, "the file ends within the event that begins at byte"),
        ('[{"name": "[memory]", "args": ' + "[" * 5000 + "]" * 5000 + "}]", "no event of torch.profiler's form"),
        ('[{"name": "[memory]", "ts": 1e308, "args": {}}]', "at byte 1"),
        (json.dumps([memory(1, 5, 10**30, 0, 0)]), "at byte 1"),
        (json.dumps([memory(1, 5, 8, 0, 0, -1, 0)]), "only the host's memory"),
        (json.dumps([memory(1, 5, 8, 8, 0), WITHOUT_ADDRESS]), "1 of its 2 memory events have no address"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        ("Thread,Time,Action,Pointer,Size,Stream\n", "only its header line"),
        ("Thread,Time,Action,Pointer,Size,Stream\n1,25:00:00:1,allocate,0x1,1,0x0\n", "line 2 is not"),
        ("Thread,Time,Action,Pointer,Size,Stream\n1,10:00:00:1,allocate,0x1,%s,0x0\n" % 10**20, "line 2 is not"),
        ("memtrace", "is already a trace"),
    ],
)  # fmt: skip
def test_invalid_record_is_rejected_with_its_position(tmp_path: Path, text: str, part: str) -> None:
    code, err = run_import(write(tmp_path, text))
    assert code == 3 and part in err and err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["profile.json"]


LOG = """\
Thread,Time,Action,Pointer,Size,Stream
1,23:59:59:999000,allocate,0x7f0000000000,1048576,0x0
1,00:00:00:001000,allocate,0x7f0000200000,2048,0x7
1,00:00:01:000000,free,0x7f0000000000,1048576,0x0
1,00:00:02:000000,allocate failure,(nil),104857600,0x0
"""


def test_rmm_log_becomes_a_trace(tmp_path: Path) -> None:
    file = write(tmp_path, LOG, "log.csv")
    code, err = run_import(file)
    assert code == 0 and "the log names no card" in err
    found = stats(file)
    assert found["devices"][0]["peak"] == MIB + 2048 and found["devices"][0]["allocated"] == 2048
    assert found["events"]["out_of_memory"] == 1
    lines = [json.loads(line) for line in export(file.with_suffix(".trace"), "jsonl").open()]
    assert [line["time_ns"] for line in lines if line["event"] == "alloc"] == [0, 2_000_000]


def test_rmm_log_with_an_invalid_line_gives_its_prefix(tmp_path: Path) -> None:
    file = write(tmp_path, LOG + "1,00:00:03:0,jump,0x1,1,0x0\n", "log.csv")
    code, err = run_import(file)
    assert code == 4 and "line 6 is not" in err
    assert stats(file)["events"]["allocations"] == 2
