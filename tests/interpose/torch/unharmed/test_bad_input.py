# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Impossible requests get an answer, the same as from torch's own allocator (docs/design/allocator.md, "Bad input")."""

from pathlib import Path

import pytest
from support.programs import on_card, on_its_own

ASKS = Path(__file__).with_name("bad_input.py")

# Cases in which torch, of some version, gives no useful answer: an assertion of its own, or nothing readable.
OURS = {
    "size: 2^63": "OutOfMemoryError: CUDA out of memory. Tried to allocate 17179869184.00 GiB. ",
    "size: 2^64 - 1": "OutOfMemoryError: CUDA out of memory. Tried to allocate 17179869184.00 GiB. ",
    "device: fraction": "RuntimeError: Invalid device argument 7: did you call init?",
    "device: negative": "RuntimeError: Invalid device argument -2: did you call init?",
    "stream: given back": "None",
    "pool: released by nobody": "RuntimeError: memtrace: nobody uses a pool (0, 1001)",
}


def beginning(answer):
    """Returns the exception's type and the part of its text that programs match on."""
    return " ".join(answer.split()[:4])


USES = """
import torch
kept = torch.empty(1, device="cuda")
print("served by", torch.cuda.get_allocator_backend())
"""


def test_invalid_calls_are_answered_as_by_torch(tmp_path):
    torchs, ours = (
        on_card(ASKS, tmp_path, options=("--allocator", allocator)).printed() for allocator in ("native", "memtrace")
    )
    different = {name: ours[name] for name in torchs if beginning(ours[name]) != beginning(torchs[name])}
    assert set(different) <= set(OURS), different
    for name, answer in different.items():
        assert answer.startswith(OURS[name]), answer
    assert ours["device: statistics"] == "RuntimeError: Invalid device argument 7: did you call init?"
    assert ours["after all that"] == "12"


@pytest.mark.parametrize("settings", ["nonsense:1", "max_split_size_mb"])
def test_invalid_settings_end_a_program_as_with_torch(settings, tmp_path):
    ends = []
    for allocator in ("native", "memtrace"):
        run = on_card(USES, tmp_path, options=("--allocator", allocator), expect=None, PYTORCH_CUDA_ALLOC_CONF=settings)
        said = [line for line in run.err.splitlines() if "Error: " in line or "what(): " in line]
        ends.append((run.status, run.out, beginning(said[-1])))
    assert ends[0] == ends[1] and ends[0][0] != 0, ends


def test_other_backend_setting_is_ignored_and_reported_once(tmp_path):
    run = on_card(USES, tmp_path, PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync,expandable_segments:True")
    assert run.out.strip() == "served by native"
    assert run.err.count("backend:cudaMallocAsync in PYTORCH_CUDA_ALLOC_CONF has no effect") == 1, run.err
    assert run.stats()["devices"][0]["allocated"] == 512


def test_destroyed_stream_is_harmless(tmp_path):
    # With torch's own allocator the process ends here, because its deleter throws.
    script = """
import torch
gone = torch.cuda.ExternalStream(0xdead0)
a = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
a.record_stream(gone)
del a
stats = torch.cuda.memory_stats()
assert stats["allocated_bytes.all.current"] == 0 and stats["active_bytes.all.current"] == 100 << 20, stats
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() == 0
"""
    on_card(script, tmp_path)


# Remaining memory is freed by the last code to run: exit handlers, module teardown, threads, static objects.
AT_THE_END = {
    "exit handler": """
atexit.register(lambda: print(torch.empty(1 << 20, device="cuda").nbytes, flush=True))
""",
    "globals": """
kept = [torch.empty(1 << 20, device="cuda") for _ in range(10)]
print(4 << 20)
""",
    "object of a module": """
class Late:
    def __init__(self):
        self.tensor = torch.empty(1 << 20, device="cuda")
    def __del__(self):
        self.tensor.record_stream(torch.cuda.default_stream())
        del self.tensor
sys.late = Late()
print(4 << 20)
""",
    "thread": """
def work():
    kept = [torch.empty(1 << 20, device="cuda") for _ in range(10)]
    threading.main_thread().join()
    kept.append(torch.empty(1 << 20, device="cuda"))
    print(kept[-1].nbytes)
threading.Thread(target=work).start()
""",
    "captured graph": """
graph = torch.cuda.CUDAGraph()
x = torch.zeros(1 << 20, device="cuda")
with torch.cuda.graph(graph):
    y = x + 1
graph.replay()
print(4 << 20)
""",
    "pool": """
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    x = torch.zeros(1 << 20, device="cuda")
print(4 << 20)
""",
    "driver shut down": """
import ctypes
x = torch.empty(1 << 20, device="cuda")
x.record_stream(torch.cuda.Stream())
said = ctypes.create_string_buffer(400)
calls = "cuMemUnmap|cuMemAddressFree|cuMemRelease|cuMemCreate|"
calls += "cuEventRecord|cuEventQuery|cuEventSynchronize|cuCtxSynchronize"
assert ctypes.CDLL("libcuda.so.1").memtrace_card_plan_failures(f"{calls}@1+=4".encode(), said, 400) == 0
print(4 << 20)
""",
}


@pytest.mark.parametrize("what", AT_THE_END)
def test_program_exits_cleanly_with_live_tensors(what, tmp_path):
    run = on_card("import atexit, sys, threading, time\nimport torch\n" + AT_THE_END[what], tmp_path)
    assert run.out.strip() == str(4 << 20)
    assert "Error" not in run.err and "terminate" not in run.err, run.err


FORKS = """
import os, sys
import torch
kept = torch.ones(1 << 20, device="cuda")
kept.record_stream(torch.cuda.Stream())

def frees():
    global kept
    del kept

CHILDREN = {
    "does nothing": lambda: None,
    "frees the parent's tensor": frees,
    "allocates": lambda: torch.empty(1, device="cuda"),
    "asks": lambda: torch.cuda.memory_allocated() > 0,
    "empties the cache": torch.cuda.empty_cache,
    "records a stream": lambda: kept.record_stream(torch.cuda.default_stream()),
}

def child(act, leave):
    try:
        print(act(), flush=True)
    except RuntimeError as error:
        print(type(error).__name__, str(error).splitlines()[0], flush=True)
    leave(0)

for leave in (sys.exit, os._exit):
    for what, act in CHILDREN.items():
        print(leave.__name__, what, end=": ", flush=True)
        pid = os.fork()
        if pid == 0:
            child(act, leave)
        print("ends with", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
assert torch.cuda.memory_allocated() == 4 << 20
print("the parent has", torch.zeros(3, device="cuda").nbytes)
"""


def test_forked_child_is_answered_and_the_parent_continues(tmp_path):
    torchs, ours = (on_card(FORKS, tmp_path, options=("--allocator", name)).out for name in ("native", "memtrace"))
    # torch's own allocator records an event when such a tensor is freed, which fails in a child and ends it
    assert "frees the parent's tensor: ends with -6" in torchs and "ends with -6" not in ours
    as_ours = torchs.replace("tensor: ends with -6", "tensor: None\nends with 0").replace("with -6", "with 0")
    assert ours == as_ours, (torchs, ours)
    assert ours.splitlines()[-1] == "the parent has 12"


PLUGGABLE = """
import ctypes
import memtrace
memtrace.simulated_card("24GiB")
import torch
library = memtrace.pluggable_library()
torch.cuda.memory.change_current_allocator(
    torch.cuda.memory.CUDAPluggableAllocator(library, "memtrace_malloc", "memtrace_free"))
functions = ctypes.CDLL(library)
functions.memtrace_malloc.restype = ctypes.c_void_p
functions.memtrace_malloc.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
functions.memtrace_free.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
functions.memtrace_record_block_stream.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
kept = torch.ones(1000, device="cuda")
assert functions.memtrace_malloc(0, 0, None) is None
block = functions.memtrace_malloc(4096, 0, None)
functions.memtrace_free(block, 4096, 0, None)
for wrong in (None, block, 0x123456, kept.data_ptr() + 512):
    functions.memtrace_free(wrong, 4096, 0, None)
    functions.memtrace_record_block_stream(wrong, None)
for size in (1 << 50, (1 << 60) - 1):
    try:
        torch.empty(size, dtype=torch.uint8, device="cuda")
        raise SystemExit("served")
    except torch.OutOfMemoryError as error:
        assert str(error).startswith("CUDA out of memory. Tried to allocate"), error
try:
    torch.empty(1, device="cuda:7")
except RuntimeError as error:
    assert "invalid device ordinal" in str(error), error
kept.fill_(2)
print(torch.empty(0, device="cuda").data_ptr(), torch.ones(3, device="cuda").nbytes)
"""


def test_pluggable_functions_survive_invalid_arguments(tmp_path):
    done = on_its_own(PLUGGABLE, tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "0 12"), done.stderr
