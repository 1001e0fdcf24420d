# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of this folder with the frameworks of `.venv-frameworks`, and checks rules for all of them."""

import os
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import ROOT, Finished, on_card

ENVIRONMENT = Path(os.environ.get("MEMTRACE_FRAMEWORKS") or ROOT / ".venv-frameworks")
PYTHON = ENVIRONMENT / "bin/python"
PROGRAMS = Path(__file__).with_name("programs")

needs_frameworks = pytest.mark.skipif(
    not PYTHON.exists(), reason="no .venv-frameworks; setup/setup.sh frameworks makes it"
)


def torchrun(ranks: int) -> tuple[str, ...]:
    return ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks))


def run(program: str, folder: Path, *arguments: str, **options: object) -> Finished:
    """Runs a program of this folder on a card, offline."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "OMP_NUM_THREADS": "1"}
    return on_card(PROGRAMS / program, folder, *arguments, python=PYTHON, **options, **offline)


def role(report: JsonObject, name: str) -> int:
    """Returns the bytes of a role at the peak."""
    return next((row["bytes"] for row in report["peak"]["by_role"] if row["name"] == name), 0)


def assert_complete(finished: Finished, told: dict[str, int], card: int = 0) -> JsonObject:
    """Checks that the trace of `card` agrees with torch's own statistics (`told`) and all sums; returns the report."""
    report = finished.report()
    assert report["lost"] == {"events": 0, "damaged_blocks": 0, "truncated_bytes": 0}
    device = next(device for device in finished.stats()["devices"] if device["index"] == card)
    assert device["peak"] == told["requested_peak"]
    assert device["requested"] == told["requested_now"]
    assert device["reserved"] == told["reserved_now"]
    assert report["peak"]["bytes"] == told["requested_peak"]
    for breakdown in ("by_role", "by_owner", "by_site"):
        assert sum(row["bytes"] for row in report["peak"][breakdown]) == report["peak"]["bytes"], breakdown
    return report


def assert_explained(finished: Finished, cause: str = "capacity") -> JsonObject:
    """Checks that the script died of torch's own exception, whose text has the verdict, as does the trace."""
    assert "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " in finished.err
    report = finished.report()
    assert report["verdict"]["cause"] == cause
    assert report["verdict"]["short_by"] > 0
    assert report["verdict"]["sentence"]
    assert sum(entry["bytes"] for entry in report["ledger"]) == report["card"]["bytes"]
    assert next(entry["bytes"] for entry in report["ledger"] if entry["name"] == "unexplained") == 0
    return report


def traces_by_card(finished: Finished) -> dict[int, Finished]:
    """Returns the run of each rank, by the card that it used."""
    found = {}
    for trace in finished.trace.parent.glob("run.trace*"):
        own = Finished(finished.status, finished.out, finished.err, trace)
        used = [device["index"] for device in own.stats()["devices"] if device["peak"]]
        assert len(used) == 1, f"{trace} used cards {used}"
        found[used[0]] = own
    return found
