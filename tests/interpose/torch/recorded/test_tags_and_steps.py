# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Owners and steps as stated by a program."""

import pytest
from support.programs import ALLOCATOR_PROBE, on_card, on_its_own

GIB = 1 << 30


def owners(run):
    return {row["name"]: row["bytes"] for row in run.report()["peak"]["by_owner"]}


def test_tags_own_their_allocations_and_nest(tmp_path):
    script = """
import memtrace, torch

kept = [torch.empty(1 << 20, dtype=torch.uint8, device="cuda")]
with memtrace.tag("edited_model"):
    kept.append(torch.empty(2 << 20, dtype=torch.uint8, device="cuda"))
    with memtrace.tag("head"):
        kept.append(torch.empty(4 << 20, dtype=torch.uint8, device="cuda"))

@memtrace.tag("reference")
def make():
    return torch.empty(8 << 20, dtype=torch.uint8, device="cuda")

kept.append(make())
"""
    assert owners(on_card(script, tmp_path)) == {
        "(none)": 1 << 20,
        "edited_model": 2 << 20,
        "edited_model/head": 4 << 20,
        "reference": 8 << 20,
    }


def test_hook_without_a_place_in_this_torch_leaves_the_others(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACE_WARM_STARTS", "0")  # torch is to be imported by the program itself
    script = """
from memtrace._patching.import_watch import when_imported

when_imported("torch.nn.modules.module", lambda module: delattr(module.Module, "train"))
import memtrace, torch

with memtrace.tag("kept"):
    kept = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
"""
    run = on_card(script, tmp_path)
    assert run.err.count("memtrace could not follow") == 1
    assert "could not follow module labels (AttributeError: " in run.err
    assert owners(run) == {"kept": 1 << 20}


def test_tagged_coroutine_or_generator_owns_only_its_own_allocations(tmp_path):
    script = """
import asyncio, memtrace, torch

kept = []
make = lambda mib: kept.append(torch.empty(mib << 20, dtype=torch.uint8, device="cuda"))

@memtrace.tag("waiting")
async def waiting(told):
    make(1)
    try:
        await asyncio.sleep(0)
        await told
    except ValueError:
        make(2)
    return "answer"

async def main():
    told = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(waiting(told))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    make(4)
    told.set_exception(ValueError())
    assert await task == "answer"

@memtrace.tag("batches")
def batches():
    try:
        make(8)
        got = yield 1
        assert got == "sent"
        make(16)
        yield 2
    finally:
        make(32)

asyncio.run(main())
steps = batches()
next(steps)
make(64)
steps.send("sent")
steps.close()
try:
    @memtrace.tag("stream")
    async def stream():
        yield 1
except TypeError:
    print("refused")
"""
    run = on_card(script, tmp_path)
    assert run.out.strip() == "refused"
    assert owners(run) == {"(none)": 68 << 20, "waiting": 3 << 20, "batches": 56 << 20}


def test_late_or_interrupted_modules_keep_their_paths(tmp_path):
    script = """
import torch

class Interrupted(torch.nn.Module):
    def forward(self, x):
        raise KeyboardInterrupt

x = torch.zeros(1 << 18, 4, device="cuda")
model = torch.nn.Sequential(torch.nn.Linear(4, 4, device="cuda"))
model.append(Interrupted())
try:
    model(x)
except KeyboardInterrupt:
    pass
model[1] = torch.nn.Sequential()
model[1].add_module("adapter", torch.nn.Linear(4, 8, device="cuda"))
kept = model(x)
other = torch.nn.Linear(4, 16, device="cuda")
alone = other(x)
"""
    peak = on_card(script, tmp_path).report()["peak"]
    sites = {row["name"]: row["bytes"] for row in peak["by_site"]}
    assert sites["*.adapter"] == (8 << 20) + 8 * 4 * 4 + 8 * 4, sites  # its output and itself
    # `other` has no name and is in no interrupted module. In 2.15 its product has 1 MiB of workspace.
    assert sites["train.py:19"] - (16 << 20) in (0, 1 << 20), sites


def test_out_of_memory_error_names_the_largest_owners(tmp_path):
    script = """
import memtrace, torch

with memtrace.tag("edited_model"):
    copy = torch.empty(20 << 30, dtype=torch.uint8, device="cuda")
try:
    torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    assert "edited_model" in str(error) and "20.00 GiB" in str(error), error
    print("said")
"""
    run = on_card(script, tmp_path)
    assert run.out.strip() == "said"
    assert run.report()["verdict"]["cause"] == "capacity"


@pytest.mark.parametrize("name", ["", "a/b"])
def test_invalid_tag_is_rejected(name, tmp_path):
    script = f"""
import memtrace
try:
    memtrace.tag({name!r})
except ValueError as error:
    print("refused")
"""
    assert on_card(script, tmp_path).out.strip() == "refused"


def test_enable_and_simulated_card_work_without_memtrace_run(tmp_path):
    import subprocess
    import sys

    (tmp_path / "train.py").write_text(
        """
import memtrace
memtrace.simulated_card("2GiB")
memtrace.enable()
import torch
kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
"""
    )
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("memtrace-train.*.trace"))) == 1


def test_pluggable_functions_serve_torchs_own_class(tmp_path):
    script = """
import memtrace, torch
from torch.cuda.memory import CUDAPluggableAllocator, change_current_allocator

import ctypes
library = ctypes.CDLL(memtrace.pluggable_library())
ours = CUDAPluggableAllocator(memtrace.pluggable_library(), "memtrace_malloc", "memtrace_free")
setters = {
    "set_init_fn": "memtrace_init",
    "set_reset_fn": "memtrace_reset",
    "set_memory_fraction_fn": "memtrace_memory_fraction",
    "set_base_alloc_fn": "memtrace_base_address",
    "set_record_stream_fn": "memtrace_record_block_stream",
    "set_begin_allocate_to_pool": "memtrace_pool_begin",
    "set_end_allocate_to_pool_fn": "memtrace_pool_end",
    "set_release_pool": "memtrace_pool_release",
}
for setter, name in setters.items():
    getattr(ours.allocator(), setter)(ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
change_current_allocator(ours)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    in_graph = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
graph.replay()
del in_graph, graph
kept = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
side = torch.cuda.Stream()
kept.record_stream(side)
before = torch.cuda.mem_get_info()[0]
del kept
torch.cuda.empty_cache()
assert torch.cuda.mem_get_info()[0] - before >= 100 << 20
kept = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
probe = ctypes.CDLL(PROBE)
probe.probe_base_allocation.restype = ctypes.c_void_p
size = ctypes.c_size_t()
inside = ctypes.c_void_p(kept.data_ptr() + 512)
assert probe.probe_base_allocation(inside, ctypes.byref(size)) == kept.data_ptr() and size.value == 1 << 20
torch.cuda.set_per_process_memory_fraction(0.5)
try:
    torch.empty(13 << 30, dtype=torch.uint8, device="cuda")
    raise SystemExit("13 GiB of 12 allowed")
except torch.OutOfMemoryError as error:
    assert "12.00 GiB allowed" in str(error), error
torch.cuda.set_per_process_memory_fraction(1.0)
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
    try:
        torch.empty(25 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError as error:
        print("raised")
print([e.name() for e in profiled.profiler.kineto_results.events() if "Memory" in e.name()])
"""
    start = f"import memtrace\nmemtrace.simulated_card('24GiB')\nPROBE = {str(ALLOCATOR_PROBE)!r}\n"
    done = on_its_own(start + script, tmp_path)
    assert done.stdout.split("\n")[:2] == ["raised", "['[OutOfMemory]']"], done.stderr
