# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.* with our allocator works as with the stock one."""

from importlib import metadata

import pytest
from support.programs import on_card

TORCH = tuple(int(part) for part in metadata.version("torch").split(".")[:2])

WORKS = {
    "statistics": """
a = torch.empty(1000, dtype=torch.uint8, device="cuda")
s = torch.cuda.memory_stats()
assert s["requested_bytes.all.current"] == 1000 and s["allocated_bytes.all.current"] == 1024, s
assert torch.cuda.memory_allocated() == 1024 and torch.cuda.memory_reserved() == 2 << 20
assert "Allocated memory" in torch.cuda.memory_summary()
del a
assert torch.cuda.memory_allocated() == 0 and torch.cuda.max_memory_allocated() == 1024
torch.cuda.reset_peak_memory_stats()
assert torch.cuda.max_memory_allocated() == 0
""",
    "empty_cache": """
a = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
del a
assert 64 << 20 <= torch.cuda.memory_reserved() < 84 << 20  # whole chunks
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() == 0
""",
    "memory_snapshot": """
a = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
segments = torch.cuda.memory_snapshot()
blocks = [b for s in segments for b in s["blocks"]]
assert [b["requested_size"] for b in blocks if b["state"] == "active_allocated"] == [3 << 20]
assert sum(b["size"] for b in blocks) == sum(s["total_size"] for s in segments) == torch.cuda.memory_reserved()
assert all(s["is_expandable"] for s in segments)
""",
    "out_of_memory_observer": """
seen = []
torch._C._cuda_init() if not torch.cuda.is_initialized() else None
torch.empty(1, device="cuda")
torch._C._cuda_attach_out_of_memory_observer(lambda device, size, total, free: seen.append((device, size)))
try:
    torch.empty(25 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    text = str(error)
assert text.startswith("CUDA out of memory. Tried to allocate 25.00 GiB. GPU 0 has a total capacity of 24.00 GiB"), text
assert seen == [(0, 25 << 30)], seen
assert torch.empty(1 << 30, dtype=torch.uint8, device="cuda").nbytes == 1 << 30  # the next one succeeds
assert torch.cuda.memory_stats()["num_ooms"] == torch.cuda.memory_stats()["num_alloc_retries"] == 1
""",
    "one_attempt": """
import ctypes
card = ctypes.CDLL("libcuda.so.1")
visitor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)
a = torch.empty(20 << 30, dtype=torch.uint8, device="cuda")
card.memtrace_card_log_calls(1)
try:
    torch.empty(5 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    pass
calls = []
card.memtrace_card_visit_calls(visitor(lambda _user, call, _count: calls.append(call.decode())), None)
print(calls)
# Twice as many, 10, when the request was tried twice.
assert sum(call.startswith("cuMemGetInfo") for call in calls) <= 6, calls
""",
    "accelerator_memory": """
a = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
assert torch.accelerator.memory_allocated() == 1 << 20
assert torch.accelerator.max_memory_allocated() == 1 << 20
torch.accelerator.empty_cache()
""",
    "record_stream": """
side = torch.cuda.Stream()
a = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
address = a.data_ptr()
a.record_stream(side)
del a
b = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() == 1 << 20
""",
    "memory_fraction": """
torch.cuda.set_per_process_memory_fraction(0.5)
try:
    torch.empty(13 << 30, dtype=torch.uint8, device="cuda")
    raise SystemExit("13 GiB of a limit of 12 GiB")
except torch.OutOfMemoryError as error:
    assert "12.00 GiB allowed" in str(error), error
assert torch.cuda.get_per_process_memory_fraction() == 0.5
""",
    "raw_allocation_and_deleter": """
p = torch.cuda.caching_allocator_alloc(4096)
torch.cuda.caching_allocator_delete(p)
assert torch.cuda.get_allocator_backend() == "native"
""",
    "profiler_sees_device_memory": """
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
    torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
assert any(e.device_memory_usage == 1 << 20 or e.self_device_memory_usage == 1 << 20 for e in p.key_averages())
""",
    "caching_switched_off": """
torch.cuda.init()  # before, the switch is ignored
torch.cuda.caching_allocator_enable(False)
a = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() == 0
torch.cuda.caching_allocator_enable(True)
b = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
a.record_stream(torch.cuda.Stream())
free = torch.cuda.mem_get_info()[0]
del a
assert torch.cuda.mem_get_info()[0] - free == 2 << 20
assert torch.cuda.memory_allocated() == 1 << 20
""",
    "threads": """
import threading
def work():
    for n in range(1, 200):
        torch.empty(n * 1000, dtype=torch.uint8, device="cuda")
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert torch.cuda.memory_allocated() == 0
""",
}


@pytest.mark.parametrize("name", WORKS)
def test_cuda_api_works_as_with_the_stock_allocator(name, tmp_path):
    on_card("import torch\n" + WORKS[name], tmp_path)


@pytest.mark.parametrize("expandable", ["True", "False"])
def test_torchs_allocator_gets_the_cards_answer_from_nvml(expandable, tmp_path):
    script = """
import torch
kept = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
try:
    torch.empty(25 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    # 500 MiB of context and what is kept.
    assert "this process has 600.00 MiB memory in use" in str(error), error
    print("out of memory")
"""
    settings = f"expandable_segments:{expandable}"
    run = on_card(script, tmp_path, options=("--allocator", "native"), PYTORCH_CUDA_ALLOC_CONF=settings)
    assert run.out.strip() == "out of memory"


def test_caching_can_be_disabled_by_the_environment(tmp_path):
    script = """
import torch
a = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() == 0 and torch.cuda.memory_reserved() == 0
"""
    on_card(script, tmp_path, PYTORCH_NO_CUDA_MEMORY_CACHING="1")


def test_environment_sets_the_memory_fraction(tmp_path):
    script = """
import torch
torch.cuda.init()
assert torch.cuda.get_per_process_memory_fraction() == 0.5
try:
    torch.empty(13 << 30, dtype=torch.uint8, device="cuda")
    raise SystemExit("13 GiB of a limit of 12 GiB")
except torch.OutOfMemoryError as error:
    assert "12.00 GiB allowed" in str(error), error
"""
    on_card(script, tmp_path, PYTORCH_CUDA_ALLOC_CONF="per_process_memory_fraction:0.5")


def test_settings_work_or_are_named_once(tmp_path):
    script = """
import torch
a = torch.empty(1200 << 10, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() == 1280 << 10, torch.cuda.memory_allocated()
assert torch.cuda.memory_stats()["requested_bytes.all.current"] == 1200 << 10
torch.cuda.memory._set_allocator_settings("expandable_segments:True")
"""
    settings = "roundup_power2_divisions:4,max_split_size_mb:64,expandable_segments:False"
    run = on_card(script, tmp_path, PYTORCH_CUDA_ALLOC_CONF=settings)
    said = [line for line in run.err.splitlines() if "PYTORCH_CUDA_ALLOC_CONF" in line]
    assert (
        len(said) == 1
        and "max_split_size_mb, expandable_segments:False in PYTORCH_CUDA_ALLOC_CONF has no effect" in said[0]
    ), run.err


def test_card_can_read_anothers_memory(tmp_path):
    script = """
import torch
before = torch.arange(8, device="cuda:0")
assert before.to("cuda:1").tolist() == list(range(8))
"""
    on_card(script, tmp_path, card="2x4GiB")


REJECTED = """
import json, torch
torch.empty(1, device="cuda")
torch._C._accelerator_setAllocatorSettings("throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5")
kept = torch.empty(10 << 30, dtype=torch.uint8, device="cuda")
del (cached := [torch.empty(1 << 30, dtype=torch.uint8, device="cuda")])[0]
seen = []
def ask(size):
    try:
        torch.empty(size, dtype=torch.uint8, device="cuda")
        seen.append("served")
    except torch.OutOfMemoryError as error:
        seen.append(str(error).splitlines()[0])
    stats = torch.cuda.memory_stats()
    seen.append([stats[key] for key in ("num_oom_rejections", "num_ooms", "num_alloc_retries")])
ask(3 << 30)
ask(1 << 30)  # from the cache
with torch.cuda.stream(torch.cuda.Stream()):
    ask(1500 << 20)  # another stream's cache could be taken back
seen.append(torch.cuda.memory_reserved() > 11 << 30)
torch.cuda.reset_accumulated_memory_stats()
seen.append(torch.cuda.memory_stats()["num_oom_rejections"])
print(json.dumps(seen))
"""


@pytest.mark.skipif(TORCH < (2, 12), reason="torch has throw_on_cudamalloc_oom since 2.12")
def test_requests_beyond_the_fraction_are_rejected_on_request(tmp_path):
    torchs, ours = (
        on_card(REJECTED, tmp_path, options=("--allocator", name)).printed() for name in ("native", "memtrace")
    )
    assert ours == torchs
    assert ours[1] == [1, 0, 0] and ours[2] == "served" and ours[5] == [2, 0, 0]
