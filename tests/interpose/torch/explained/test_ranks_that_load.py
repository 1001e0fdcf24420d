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


# Weights of 256 MiB: the first card has one copy for each of both ranks, beside its own rank's model.
SAVES_MODEL = """
import sys, torch
torch.save(torch.nn.Linear(8192, 8192, bias=False).cuda().state_dict(), sys.argv[1])
"""
RESUMES = """
import os, sys, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(8192, 8192, bias=False).cuda())
checkpoint = torch.load(sys.argv[1], map_location={where})
model.module.load_state_dict(checkpoint)
dist.barrier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    model(torch.zeros(8, 8192, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
"""
TWO_RANKS = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_ranks_that_load_to_one_card_are_told_where_to_load(tmp_path):
    saved = tmp_path / "model.pt"
    on_card(SAVES_MODEL, tmp_path, str(saved), card="2GiB", output=False)
    card = "2x1500MiB,context=100MiB"
    on_card(RESUMES.format(where=None), tmp_path, str(saved), card=card, launcher=TWO_RANKS, expect=1)
    reports = [json.loads(memtrace("report", "--json", str(path)).out) for path in tmp_path.glob("run.trace*")]
    (failed,) = [report for report in reports if report["request"] is not None]
    (other,) = failed["other_processes"]["launch"]
    assert other["rank"] == "1" and other["holds"]["largest"] == "checkpoint train.py:10", other
    first = failed["remedies"][0]
    assert first["name"] == "checkpoint in host memory" and "in each rank" in first["change"], failed["remedies"]
    larger = next(row for row in failed["remedies"] if row["name"] == "a larger card")
    assert larger["predicted_peak"] - first["predicted_peak"] == other["bytes"] + 256 * MIB
    own = next(row for row in failed["remedies"] if row["name"] == "del checkpoint")  # it would still be held in step 2
    assert own["next_step"] <= own["this_step"] == own["predicted_peak"]
    assert "no other process" not in [row["name"] for row in failed["remedies"]]
    on_card(RESUMES.format(where="'cpu'"), tmp_path, str(saved), card=card, launcher=TWO_RANKS)


STRAYS = """
import os, torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("gloo")
own = torch.zeros(64 << 18, device="cuda")
table = torch.zeros(256 << 18, device="cuda:0")
dist.barrier()
if rank == 0:
    torch.zeros(512 << 18, device="cuda")
dist.barrier()
"""


def test_line_that_uses_another_ranks_card_is_named(tmp_path):
    on_card(STRAYS, tmp_path, card="2x1200MiB,context=100MiB", launcher=TWO_RANKS, expect=1)
    reports = [json.loads(memtrace("report", "--json", str(path)).out) for path in tmp_path.glob("run.trace*")]
    (failed,) = [report for report in reports if report["request"] is not None]
    row = next(row for row in failed["remedies"] if row["name"] == "no other process")
    assert row["change"].startswith("device=LOCAL_RANK at train.py:9: what rank 1 allocates there"), row


def test_remedy_of_ranks_that_load_to_one_card_is_the_load_location(tmp_path):
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
        assert first["name"] == "checkpoint in host memory"
        assert 'torch.load(..., map_location="cpu") in each rank' in first["change"]
        assert all(row["bytes"] >= 64 * MIB for row in report["other_processes"]["launch"])
