# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs torch.profiler on the stand-in of libcupti: it shows the card's work, and memory is not affected."""

import pytest
from support.programs import on_card

# step() trains a small model by one step; the arguments determine its copies and fills.
PRELUDE = """
import contextlib, ctypes, json, sys, torch
from torch.profiler import ProfilerActivity, profile

driver = ctypes.CDLL("libcuda.so.1")

class Activity(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("kernel_launches", ctypes.c_uint64),
                ("copies_executed", ctypes.c_uint64), ("copies_dropped", ctypes.c_uint64),
                ("rest", ctypes.c_uint64 * 4)]

def counted():
    '''Kernels; copies and fills, by the card.'''
    activity = Activity(size=ctypes.sizeof(Activity))
    assert driver.memtrace_card_activity(ctypes.byref(activity)) == 0
    return activity.kernel_launches, activity.copies_executed + activity.copies_dropped

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

def step():
    x = torch.ones(64, 512).to("cuda")
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()

both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
step()
torch.cuda.synchronize()
"""


def quiet(err: str) -> bool:
    """Returns true if neither kineto nor we warn."""
    return not any(word in err for word in ("CUPTI", "WARNING:", "kineto", "does not have"))


def test_every_kernel_and_copy_is_shown_under_its_operator(tmp_path):
    script = (
        PRELUDE
        + """
before = counted()
with profile(activities=both, profile_memory=True, record_shapes=True) as profiler:
    for _ in range(3):
        step()
    torch.cuda.synchronize()
launched, moved = (after - start for after, start in zip(counted(), before))
profiler.export_chrome_trace(sys.argv[1])
with open(sys.argv[1]) as file:
    events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
of = lambda category: [event for event in events if event.get("cat") == category]
calls = {event["args"]["correlation"]: event["name"] for event in of("cuda_runtime")}
kernels = of("kernel")
table = {row.key: row for row in profiler.key_averages()}
print(json.dumps({
    "launched": launched,
    "kernels": len(kernels),
    "moved": moved,
    "copies and fills": len(of("gpu_memcpy")) + len(of("gpu_memset")),
    "launched by": sorted({calls[event["args"]["correlation"]] for event in kernels}),
    "backwards": sum(event["dur"] < 0 for event in kernels),
    "streams": sorted({event["args"]["stream"] for event in kernels}),
    "copies": sorted([event["name"], event["args"]["bytes"]] for event in of("gpu_memcpy")
                     if "DtoD" not in event["name"]),
    "gemms of mm and addmm": sum(event["name"].startswith("cublas") for event in kernels),
    "device time of mm": table["aten::mm"].device_time_total,
    "memory of addmm": table["aten::addmm"].self_device_memory_usage,
}))
"""
    )
    done = on_card(script, tmp_path, str(tmp_path / "profile.json"), options=("--allocator", "native"))
    found = done.printed()
    assert quiet(done.err), done.err
    assert found["kernels"] == found["launched"] > 60
    assert found["copies and fills"] == found["moved"] >= 6
    assert found["launched by"] == ["cudaLaunchKernel"]
    assert found["backwards"] == 0
    assert found["streams"] == [0]
    assert (
        found["copies"]
        == [["Memcpy DtoH (Device -> Pinned)", 4]] * 3 + [["Memcpy HtoD (Pageable -> Device)", 64 * 512 * 4]] * 3
    )
    assert found["gemms of mm and addmm"] == 3 * 5  # 2 forward, 2 for weights, 1 for the hidden layer
    assert found["device time of mm"] > 0
    assert found["memory of addmm"] == 3 * 2 * 64 * 512 * 4


@pytest.mark.parametrize("allocator", ["native", "memtrace"])
def test_profiling_does_not_change_memory(tmp_path, allocator):
    script = (
        PRELUDE
        + """
import sys
profiled = sys.argv[1] == "profiled"
with profile(activities=both, profile_memory=True) if profiled else contextlib.nullcontext():
    for _ in range(3):
        step()
    torch.cuda.synchronize()
free, total = torch.cuda.mem_get_info()
statistics = torch.cuda.memory_stats()
keys = ("allocation.all.allocated", "allocated_bytes.all.peak", "requested_bytes.all.peak", "reserved_bytes.all.peak",
        "num_device_alloc")
print(json.dumps([total - free] + [statistics[key] for key in keys]))
"""
    )
    options = ("--allocator", allocator)
    plain = on_card(script, tmp_path, "plain", options=options).printed()
    assert on_card(script, tmp_path, "profiled", options=options).printed() == plain


def test_repeated_and_lazy_profiles_show_the_same_kernels(tmp_path):
    script = (
        PRELUDE
        + """
counts = []
for _ in range(2):
    with profile(activities=both) as profiler:
        step()
        torch.cuda.synchronize()
    counts.append(sum(event.device_type.name == "CUDA" for event in profiler.events()))
    step()
print(json.dumps(counts))
"""
    )
    eager = on_card(script, tmp_path).printed()
    assert eager[0] == eager[1] > 20
    done = on_card(script, tmp_path, options=("--events", "lazy"))
    assert quiet(done.err), done.err
    assert done.printed() == eager
