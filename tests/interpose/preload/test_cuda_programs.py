# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs CUDA programs unaware of memtrace under LD_PRELOAD: a trace has what they take, and they notice nothing."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["MEMTRACE_BUILD"])
PROGRAM = BUILD / "tests/interpose/preload/cuda_program"
PACKAGE = BUILD / "package/lib"
PRELOAD = PACKAGE / "libmemtrace_preload.so"
MIB = 1 << 20
CACHE = ("0", "1")  # "1": our allocator serves the program


def run(folder: Path, what: str, preload: Path | None = PRELOAD, status: int = 0, **environment: str):
    """Runs the program on a simulated card of 1 GiB; if it writes a trace, that is run.trace."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MEMTRACE_")}
    done = subprocess.run(
        [PROGRAM, what],
        cwd=folder,
        env={
            **inherited,
            "LD_LIBRARY_PATH": str(PACKAGE / "simulated_card"),
            "MEMTRACE_CARD": "1GiB",
            "MEMTRACE_OUTPUT": "run.trace",
            **({"LD_PRELOAD": str(preload)} if preload else {}),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def report(folder: Path, trace: str = "run.trace", *options: str):
    """Returns the report of a trace, as JSON."""
    command = [BUILD / "memtrace", "report", "--json", *options, str(folder / trace)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)


def ledger(folder: Path, trace: str = "run.trace") -> dict[str, int]:
    return {entry["name"]: entry["bytes"] for entry in report(folder, trace)["ledger"]}


def live_at_end(folder: Path, trace: str = "run.trace") -> int:
    command = [BUILD / "memtrace", "stats", "--json", str(folder / trace)]
    stats = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)
    return stats["devices"][0]["requested"]


def sites(folder: Path) -> dict[str, int]:
    return {holding["site"]: holding["bytes"] for holding in report(folder)["holdings"]}


@pytest.mark.parametrize("cache", CACHE)
def test_report_agrees_with_the_blocks_of_a_program(tmp_path, cache):
    done = run(tmp_path, "leave", MEMTRACE_CACHE=cache)
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert report(tmp_path)["peak"]["bytes"] == 8 * MIB
    assert live_at_end(tmp_path) == 5 * MIB
    assert ledger(tmp_path)["live"] == 8 * MIB
    assert ledger(tmp_path)["unexplained"] == 0


def test_kernels_are_reported_absent_without_an_allocator(tmp_path):
    assert run(tmp_path, "leave", MEMTRACE_CUPTI="1").stderr == ""
    activities = report(tmp_path)["activities"]
    assert (activities["state"], activities["reason"]) == (
        "absent",
        "the program takes its memory from the driver itself",
    )
    command = [BUILD / "memtrace", "report", str(tmp_path / "run.trace")]
    text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "CUPTI recorded no kernels: it is absent (the program takes" in " ".join(text.split())


@pytest.mark.parametrize("cache", CACHE)
def test_site_is_the_function_that_allocated(tmp_path, cache):
    run(tmp_path, "named_function", MEMTRACE_CACHE=cache)
    assert sites(tmp_path) == {"LoadTheModel (cuda_program)": 9 * MIB}


def test_frames_can_be_resolved_offline(tmp_path):
    run(tmp_path, "run_out")
    frames = report(tmp_path)["request"]["stack"]
    at = [frame["file"] for frame in frames if frame["file"].startswith(f"{PROGRAM}+0x")]
    assert at
    notes = subprocess.run(["readelf", "-n", PROGRAM], capture_output=True, text=True, timeout=60, check=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
    assert build_id is not None
    written = (tmp_path / "run.trace").read_bytes()
    assert f"build_id.{PROGRAM}".encode() in written and build_id[1].encode() in written
    offset = at[0].rsplit("+", 1)[1]
    line = subprocess.run(
        ["addr2line", "-Cfe", PROGRAM, offset], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "cuda_program.cc" in line


def test_kinds_of_memory_are_distinguished(tmp_path):
    run(tmp_path, "kinds")
    assert live_at_end(tmp_path) == (4 + 6) * MIB
    kinds = {row["kind"]: row["bytes"] for row in report(tmp_path)["outside"]}
    assert kinds == {"managed": 7 * MIB, "host": 3 * MIB, "registered": 1 * MIB}


def test_physical_memory_lives_until_it_is_released_and_unmapped(tmp_path):
    run(tmp_path, "physical")
    assert report(tmp_path)["peak"]["bytes"] == 13 * MIB
    assert live_at_end(tmp_path) == 4 * MIB


@pytest.mark.parametrize("cache", CACHE)
def test_out_of_memory_of_a_program_has_a_verdict(tmp_path, cache):
    run(tmp_path, "run_out", MEMTRACE_CACHE=cache)
    told = report(tmp_path)
    assert told["verdict"]["cause"] == "too_large"
    assert told["request"]["bytes"] == 700 * MIB
    assert {entry["name"]: entry["bytes"] for entry in told["ledger"]}["live"] == 300 * MIB


@pytest.mark.parametrize("cache", CACHE)
def test_driver_found_by_handle_or_table_is_recorded(tmp_path, cache):
    run(tmp_path, "loaded_driver", MEMTRACE_CACHE=cache)
    assert report(tmp_path)["peak"]["bytes"] == 11 * MIB
    assert live_at_end(tmp_path) == 5 * MIB


@pytest.mark.parametrize("cache", CACHE)
def test_entry_points_of_the_runtime_are_recorded(tmp_path, cache):
    run(tmp_path, "entry_points", MEMTRACE_CACHE=cache)
    assert live_at_end(tmp_path) == 5 * MIB


@pytest.mark.parametrize("cache", CACHE)
def test_concurrent_threads_lose_no_events(tmp_path, cache):
    run(tmp_path, "threads", MEMTRACE_CACHE=cache)
    assert live_at_end(tmp_path) == 8 * MIB


@pytest.mark.parametrize("cache", CACHE)
@pytest.mark.parametrize("what", ["constructor", "after_main", "errno", "reset", "clear_environment", "range"])
def test_program_survives_unusual_calls(tmp_path, what, cache):
    done = run(tmp_path, what, MEMTRACE_CACHE=cache)
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.parametrize("cache", CACHE)
def test_child_forked_before_cuda_has_its_own_trace(tmp_path, cache):
    run(tmp_path, "fork_before", MEMTRACE_CACHE=cache)
    traces = sorted(path.name for path in tmp_path.iterdir())
    assert len(traces) == 2
    assert [live_at_end(tmp_path, trace) for trace in traces] == [5 * MIB, 5 * MIB]


@pytest.mark.parametrize("cache", CACHE)
def test_child_forked_after_cuda_does_not_touch_the_trace(tmp_path, cache):
    run(tmp_path, "fork_after", MEMTRACE_CACHE=cache)
    assert [path.name for path in tmp_path.iterdir()] == ["run.trace"]
    assert live_at_end(tmp_path) == 5 * MIB


def test_program_that_replaces_itself_has_two_traces(tmp_path):
    run(tmp_path, "execute")
    assert len(list(tmp_path.iterdir())) == 2


def test_cached_memory_is_reused_without_driver_calls(tmp_path):
    calls = {}
    for cache in CACHE:
        (tmp_path / cache).mkdir()
        done = run(tmp_path / cache, "counted", MEMTRACE_CACHE=cache)
        calls[cache] = int(done.stdout.splitlines()[0])
    assert calls["0"] == 200
    assert calls["1"] < 10


def test_dlsym_next_works_as_without_memtrace(tmp_path):
    run(tmp_path, "next")
    assert list(tmp_path.iterdir()) == []


def test_program_without_cuda_leaves_no_files(tmp_path):
    done = run(tmp_path, "nothing")
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert list(tmp_path.iterdir()) == []


def test_switched_off_leaves_no_files(tmp_path):
    done = run(tmp_path, "leave", MEMTRACE="0")
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert list(tmp_path.iterdir()) == []


def test_program_that_closes_all_files_keeps_its_own_file_intact(tmp_path):
    done = run(tmp_path, "close_files")
    assert done.stdout == "done\n"
    assert (tmp_path / "own.txt").read_text() == "untouched"


def test_missing_core_is_reported_once_and_the_program_continues(tmp_path):
    alone = tmp_path / "libmemtrace_preload.so"
    alone.write_bytes(PRELOAD.read_bytes())
    done = run(tmp_path, "threads", preload=alone)
    assert done.stdout == "done\n"
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("memtrace: Nothing is recorded, and the program continues: ")
    assert list(tmp_path.iterdir()) == [alone]


def test_missing_folder_is_reported_once_and_the_program_continues(tmp_path):
    done = run(tmp_path, "leave", MEMTRACE_OUTPUT="nowhere/run.trace")
    assert done.stdout == "done\n"
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("memtrace: No trace is written")


def test_no_lock_is_held_during_driver_calls(tmp_path):
    assert run(tmp_path, "within_calls").stdout == "done\n"
    assert run(tmp_path, "within_calls", preload=None).stdout == "done\n"
