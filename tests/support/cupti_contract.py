# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of `memtrace run --cupti` with the program cupti_training.py, on a simulated card and on a real one."""

from support.json_object import JsonObject
from support.programs import ROOT, Finished

PROGRAM = ROOT / "tests" / "interpose" / "torch" / "recorded" / "cupti_training.py"
KEPT = 64 << 20  # bytes


def kept_row(report: JsonObject) -> JsonObject:
    """Returns the row of the block that the program keeps and never writes again."""
    rows = [row for row in report["idle"]["sites"] if row["bytes"] >= KEPT]
    assert len(rows) == 1, report["idle"]
    row: JsonObject = rows[0]
    return row


def check_kernels(run: Finished) -> None:
    """Checks that CUPTI was on, and that nearly all kernels are tied to a block."""
    activities = run.stats()["activities"]
    assert (activities["state"], activities["dropped"], activities["gaps"]) == ("on", 0, 0)
    assert activities["kernels"] > 50
    assert activities["tied_kernels"] > activities["kernels"] / 2
    assert activities["fills"] + activities["copies"] > 0
    assert activities["cards"][0]["busy_ns"] > 0


def check_kept_block(run: Finished) -> None:
    """Checks that the block kept in the second step is unwritten since, and that the report says so first."""
    report = run.report()
    row = kept_row(report)
    assert row["last_step"] < 4
    assert row["site"].startswith("cupti_training.py")
    assert 0 < report["idle"]["idle_ns"] <= row["idle_ns"]
    assert "had not been written since an earlier step" in report["verdict"]["sentence"]


def check_gap(run: Finished) -> None:
    """Checks that the trace notes when torch.profiler had CUPTI, and that memory unknown then is not called idle."""
    report = run.report()
    activities = report["activities"]
    assert (activities["state"], activities["gaps"]) == ("on", 1)
    assert activities["gap_ns"] > 0
    assert "torch.profiler" in activities["reason"]
    assert activities["kernels"] > 0
    assert report["idle"]["unknown_bytes"] >= KEPT
    assert report["idle"]["bytes"] < KEPT
