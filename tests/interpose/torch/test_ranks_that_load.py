# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that each load a checkpoint to the card that it was saved from (a plain torch.load) meet on the first card."""

import json

from support.programs import MIB, memtrace, on_card

SAVES = """
import sys, torch
torch.save([torch.ones(64 << 18, device="cuda") for _ in range(10)], sys.argv[1])
"""
LOADS = """
import os, sys, time, torch
from pathlib import Path

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
try:
    state = torch.load(sys.argv[1])
finally:
    # Whoever ran out waits for the others, so that all have what they hold.
    me = Path(sys.argv[1] + "." + os.environ["RANK"])
    me.touch()
    deadline = time.monotonic() + 60
    while len(list(me.parent.glob("state.pt.*"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
"""


def test_the_cure_of_ranks_that_load_to_one_card_is_where_they_load(tmp_path):
    saved = tmp_path / "state.pt"
    on_card(SAVES, tmp_path, str(saved), card="2GiB", output=False)
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3")
    run = on_card(LOADS, tmp_path, str(saved), card="3x2GiB", launcher=launcher, expect=1)
    reports = [json.loads(memtrace("report", "--json", str(path)).out) for path in tmp_path.glob("run.trace*")]
    failed = [report for report in reports if report["verdict"]["cause"] == "other_process"]
    assert failed, [report["verdict"] for report in reports] + [run.err]
    for report in failed:
        assert report["card"]["index"] == 0
        first = report["remedies"][0]
        assert first["name"] == "no other process"
        assert 'torch.load(..., map_location="cpu") in each rank' in first["change"]
        assert all(row["bytes"] >= 64 * MIB for row in report["other_processes"]["launch"])
