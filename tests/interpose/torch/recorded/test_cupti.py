# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `memtrace run --cupti` with real torch on the card's CUPTI: kernels, idle blocks, and other users of CUPTI."""

import signal
import subprocess
import sys

import pytest
from support.cupti_contract import KEPT, PROGRAM, check_gap, check_kept_block, check_kernels, kept_row
from support.programs import BUILD, MEMTRACE, memtrace, on_card

REFUSING = BUILD / "tests" / "interpose" / "core" / "librefusing_cupti.so"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return on_card(PROGRAM, tmp_path_factory.mktemp("cupti"), options=("--cupti",))


def test_every_launch_is_recorded_and_most_are_tied_to_a_block(run):
    check_kernels(run)
    report = run.report()
    assert report["activities"]["kernels"] == report["simulated"]["kernel_launches"]


def test_block_unwritten_for_steps_is_named_first(run):
    check_kept_block(run)


def test_text_marks_inferred_facts(run):
    text = " ".join(memtrace("report", "--verbose", str(run.trace)).out.split())
    assert "NOT WRITTEN SINCE AN EARLIER STEP" in text
    assert "(Inferred:" in text and "Reads are not seen." in text
    assert "CARD ACTIVITY" in memtrace("stats", str(run.trace)).out


def test_cupti_does_not_change_allocations(run, tmp_path):
    plain = on_card(PROGRAM, tmp_path)
    assert "activities" not in plain.stats() and "idle" not in plain.report()
    peak, expected = plain.report()["peak"], run.report()["peak"]
    assert peak["reserved"].pop("event") < expected["reserved"].pop("event")  # CUPTI's own events also count
    assert peak == expected
    counts = ("allocations", "frees", "labels", "steps")
    assert [plain.stats()["events"][name] for name in counts] == [run.stats()["events"][name] for name in counts]


def test_kernels_are_tied_to_blocks_of_torchs_allocator(tmp_path):
    run = on_card(PROGRAM, tmp_path, options=("--cupti", "--allocator", "native"))
    check_kernels(run)
    assert kept_row(run.report())["bytes"] >= KEPT


def test_profile_is_unchanged_and_the_gap_is_recorded(tmp_path):
    plain = on_card(PROGRAM, tmp_path, "profile")
    ours = on_card(PROGRAM, tmp_path, "profile", options=("--cupti",))
    assert len(plain.printed()) > 3
    assert ours.printed() == plain.printed()
    assert "nvalid" not in ours.err  # kineto's complaint about correlations that are not its own
    check_gap(ours)
    assert "torch.profiler" in memtrace("report", str(ours.trace)).out


def test_out_of_memory_has_the_kernels_before_it(tmp_path):
    run = on_card(PROGRAM, tmp_path, "fail", options=("--cupti",))
    report = run.report()
    assert report["request"]["bytes"] == 1 << 50
    assert kept_row(report)["last_step"] < 4


def test_killed_run_keeps_kernels_of_earlier_steps(tmp_path):
    run = on_card(PROGRAM, tmp_path, "kill", options=("--cupti",), expect=128 + signal.SIGKILL)
    stats = run.stats()
    assert stats["lost"]["damaged_blocks"] == 0
    assert stats["activities"]["state"] == "on"
    assert stats["activities"]["kernels"] > 50


@pytest.mark.parametrize(
    ("library", "state", "reason"),
    [
        ("/nowhere/libcupti.so.13", "absent", "/nowhere/libcupti.so.13"),
        (str(REFUSING), "refused", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
    ],
)
def test_failing_cupti_prints_one_line_and_sets_the_state(tmp_path, library, state, reason):
    run = on_card(PROGRAM, tmp_path, MEMTRACE_CUPTI=library)
    assert len(run.err.splitlines()) == 1 and reason in run.err
    report = run.report()
    assert (report["activities"]["state"], report["activities"]["kernels"]) == (state, 0)
    assert reason in report["activities"]["reason"]
    assert "idle" not in report
    assert f"CUPTI recorded no kernels: it is {state}" in " ".join(memtrace("report", str(run.trace)).out.split())


def test_cupti_is_not_loaded_without_a_card(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import torch; print(torch.cuda.is_available(), torch.ones(3).sum().item())\n")
    done = subprocess.run(
        [MEMTRACE, "run", "-q", "--cupti", "--", sys.executable, script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    if done.stdout.startswith("True"):
        pytest.skip("this machine has a card")
    assert (done.returncode, done.stdout, done.stderr) == (0, "False 3.0\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.py"]


def test_no_trace_and_cupti_are_mutually_exclusive():
    refused = memtrace("run", "--cupti", "--no-trace", "--", "true")
    assert refused.status == 2 and "--cupti" in refused.err
