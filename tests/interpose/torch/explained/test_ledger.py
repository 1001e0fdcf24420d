# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A card's ledger in reports on real programs: contexts, caches, pools, streams, other cards and processes."""

import json
import re
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import GIB, MIB, memtrace, on_card

NATIVE = ("--allocator", "native")


def ledger(report: JsonObject) -> dict[str, int]:
    return {entry["name"]: entry["bytes"] for entry in report["ledger"]}


def text(trace: Path) -> str:
    """Returns the report with its lines joined."""
    return " ".join(memtrace("report", "--verbose", str(trace)).out.split())


def failed(folder: Path) -> tuple[Path, JsonObject]:
    """Returns the trace of the only process that ran out of memory, and its report."""
    reports = {path: json.loads(memtrace("report", "--json", str(path)).out) for path in folder.glob("run.trace*")}
    (found,) = [(path, report) for path, report in reports.items() if report["verdict"]["cause"] != "none"]
    return found


EMPTIED = """
import json, torch, memtrace
blocks = [torch.empty(30 << 20, dtype=torch.uint8, device="cuda") for _ in range(8)]
small = [torch.empty(1000, device="cuda") for _ in range(3000)]
del blocks[2:5], blocks[-1]
blocks.append(torch.empty(3 << 20, dtype=torch.uint8, device="cuda"))
del small[::2], small[1000:]
memtrace.step()
before = torch.cuda.memory_reserved()
torch.cuda.empty_cache()
print(json.dumps(before - torch.cuda.memory_reserved()))
"""
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}


@pytest.mark.parametrize(
    ("options", "environment"), [((), {}), (NATIVE, {}), (NATIVE, EXPANDABLE)], ids=["ours", "native", "expandable"]
)
def test_cached_is_what_empty_cache_releases(tmp_path, options, environment):
    run = on_card(EMPTIED, tmp_path, card="4GiB", options=options, **environment)
    entries = ledger(run.report("--at", "step:1"))
    assert entries["cached"] == run.printed() > 0
    assert min(entries.values()) >= 0


POOL = """
import torch
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    block = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
del block
kept = []
while True:
    kept.append(torch.empty(100 << 20, dtype=torch.uint8, device="cuda"))
"""


@pytest.mark.parametrize("options", [(), NATIVE], ids=["ours", "native"])
def test_free_memory_of_a_private_pool_is_not_cached(tmp_path, options):
    run = on_card(POOL, tmp_path, card="3GiB", options=options, expect=1)
    report = run.report()
    assert ledger(report)["private_pools"] == 512 * MIB
    assert ledger(report)["cached"] == report["fragmentation"]["releasable"]
    assert report["fragmentation"]["private_pools"] == 512 * MIB
    assert report["fragmentation"]["after_empty_cache"] < 100 * MIB
    assert "512.0 MiB is in private pools" in text(run.trace)


ONE_OF_TWO = """
import torch
torch.empty(1, device="cuda:1")
kept = []
while True:
    kept.append(torch.empty(256 << 20, dtype=torch.uint8, device="cuda:0"))
"""


def test_cards_are_listed_and_uneven_load_is_reported(tmp_path):
    run = on_card(ONE_OF_TWO, tmp_path, card="2x4GiB", expect=1)
    report = run.report()
    free = [{entry["name"]: entry["bytes"] for entry in card["ledger"]}["free"] for card in report["cards"]]
    assert free[0] < 256 * MIB
    assert free[1] > 3 * GIB
    said = text(run.trace)
    assert re.search(r"The load is uneven: cards 0, 1 have 3\.\d, 0\.0 GiB in use\.", said), said
    assert re.search(r"CARDS .*card 0 .*ran out of memory card 1 ", said), said


def test_load_of_one_rank_is_not_reported_uneven(tmp_path):
    run = on_card(ONE_OF_TWO, tmp_path, card="2x4GiB", expect=1, RANK="0", WORLD_SIZE="2")
    assert "uneven" not in run.report()["verdict"]["sentence"]


STREAMS = """
import torch
other = torch.cuda.Stream()
for _ in range(60):
    block = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
    with torch.cuda.stream(other):
        block.add_(1)
    block.record_stream(other)
    del block
print("DONE")
"""


@pytest.mark.parametrize("options", [(), NATIVE], ids=["ours", "native"])
def test_memory_waiting_for_streams_is_the_headline(tmp_path, options):
    run = on_card(STREAMS, tmp_path, card="4GiB", options=("--events", "lazy", *options))
    report = run.report()
    assert report["peak"]["bytes"] == 100 * MIB
    reserved = report["peak"]["reserved"]
    assert reserved["stream_wait"] > 3 * GIB
    assert reserved["retries"] >= 1
    sentence = report["verdict"]["sentence"]
    assert re.search(r"3\.\d\d GiB of card 0's 4\.00 GiB was freed but still waited for other streams", sentence), (
        sentence
    )
    left = re.search(r"([\d.]+) (MiB|GiB) of card 0's 4\.00 GiB was still available", sentence)
    assert left is not None and left[2] == "MiB", sentence
    assert re.search(r"gave back its cache (once|\d+ times)", text(run.trace))


WATCHED = """
import os, subprocess, sys, time, torch
memtrace = os.path.join(os.path.dirname(sys.executable), "memtrace")
kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
for _ in range(300):
    torch.empty(1000, device="cuda")
    time.sleep(0.1)
    seen = subprocess.run([memtrace, "top", "--json", str(os.getpid())], capture_output=True, text=True).stdout
    if '"context": 5' in seen and f'"reserved": {torch.cuda.memory_reserved()},' in seen:
        break
print(subprocess.run([memtrace, "top", "-n", "1", str(os.getpid())], capture_output=True, text=True).stdout)
print("free", torch.cuda.mem_get_info()[0] >> 20)
"""


@pytest.mark.parametrize("options", [(), NATIVE], ids=["ours", "native"])
def test_context_is_counted_during_the_run_and_at_the_peak(tmp_path, options):
    run = on_card(WATCHED, tmp_path, card="2GiB", options=options)
    free = int(re.search(r"^free (\d+)", run.out, re.MULTILINE)[1])
    seen = re.search(r"\bfree +([\d.]+) MiB", run.out)
    assert seen is not None, run.out
    assert abs(float(seen[1]) - free) <= 1
    assert re.search(r"\bcontext +\d", run.out), run.out
    report = ledger(run.report())
    assert abs(report["free"] / MIB - free) <= 1
    assert report["context"] > 400 * MIB


WORKER = """
import subprocess, sys, torch
if len(sys.argv) > 1:
    kept = torch.empty(768 << 20, dtype=torch.uint8, device="cuda")
    print("ready", flush=True)
    sys.stdin.read()
else:
    child = subprocess.Popen([sys.executable, __file__, "worker"], stdin=-1, stdout=-1, text=True)
    child.stdout.readline()
    kept = []
    while True:
        kept.append(torch.empty(256 << 20, dtype=torch.uint8, device="cuda"))
"""


def test_other_process_of_the_launch_is_named_with_its_memory(tmp_path):
    on_card(WORKER, tmp_path, card="4GiB,other=300MiB", expect=1)
    path, report = failed(tmp_path)
    (worker,) = report["other_processes"]["launch"]
    assert worker["name"] == "1 worker process"
    assert worker["holds"]["live"] == 768 * MIB
    assert worker["bytes"] == worker["holds"]["context"] + 768 * MIB
    assert worker["holds"]["largest"].endswith("train.py:4")
    assert report["other_processes"]["strangers"] == 300 * MIB
    assert ledger(report)["other_processes"] == worker["bytes"] + 300 * MIB
    said = text(path)
    assert "1 worker process of this program" in said
    assert "other programs hold 300.0 MiB" in said


RANKS = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = int(os.environ["RANK"])
kept = torch.empty((1 + rank) << 28, dtype=torch.uint8, device="cuda:0")
dist.barrier()
if rank == 0:
    while True:
        kept = (kept, torch.empty(256 << 20, dtype=torch.uint8, device="cuda:0"))
dist.barrier()
"""


def test_ranks_that_share_a_card_are_distinguished(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    run = on_card(RANKS, tmp_path, card="2x4GiB", launcher=launcher, expect=None)
    assert run.status != 0
    _, report = failed(tmp_path)
    (other,) = report["other_processes"]["launch"]
    assert (other["name"], other["rank"]) == ("rank 1", "1")
    assert other["holds"]["live"] == 512 * MIB
    folder = json.loads(memtrace("report", "--json", str(tmp_path)).out)
    contexts = {row["rank"]: row["contexts"] for row in folder["processes"] if row["readable"] and row["rank"]}
    assert [row["card"] for row in contexts["0"]] == [0]
    assert all(row["bytes"] > 400 * MIB for rows in contexts.values() for row in rows)
    assert "contexts" in memtrace("report", str(tmp_path)).out
