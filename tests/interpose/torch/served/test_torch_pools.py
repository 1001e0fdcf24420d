# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Private pools with our allocator: captured graphs, torch.cuda.MemPool, checkpoints, a program's own memory."""

import pytest
from support.programs import on_card

MIB = "MIB = 1 << 20\nimport torch\nbytes_ = lambda n: torch.empty(n, dtype=torch.uint8, device='cuda')\n"

WORKS = {
    "a_graphs_memory_is_its_own": """
outside = bytes_(8 * MIB)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    kept = bytes_(4 * MIB)
    bytes_(16 * MIB)  # freed in the capture, but every replay writes there
torch.cuda.empty_cache()
large = [s for s in torch.cuda.memory_snapshot() if s["total_size"] > 2 * MIB]
pools = {tuple(s["segment_pool_id"]): s["total_size"] for s in large}
assert len(pools) == 2 and pools[(0, 0)] == 8 * MIB, pools
assert sum(pools.values()) == 28 * MIB, pools
graph.replay()
del graph, kept
torch.cuda.synchronize()
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() == 8 * MIB, torch.cuda.memory_reserved()
""",
    "graphs_share_a_pool": """
first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
with torch.cuda.graph(first):
    a = bytes_(4 * MIB)
with torch.cuda.graph(second, pool=first.pool()):
    b = bytes_(4 * MIB)
assert first.pool() == second.pool()
assert a.data_ptr() != b.data_ptr()
""",
    "a_shared_block_waits_for_the_end_of_the_capture": """
side = torch.cuda.Stream()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    block = bytes_(4 * MIB)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        block.add_(1)
        block.record_stream(side)
    torch.cuda.current_stream().wait_stream(side)
    address = block.data_ptr()
    del block
    assert bytes_(4 * MIB).data_ptr() != address
bytes_(1)
assert torch.cuda.memory_stats()["active_bytes.all.current"] < 4 * MIB
""",
    "use_count": """
pool = torch.cuda.MemPool()
assert pool.use_count() == 1
with torch.cuda.use_mem_pool(pool):
    assert pool.use_count() == 2
    inside = bytes_(3 * MIB)
outside = bytes_(3 * MIB)
assert pool.use_count() == 1
assert [b["size"] for s in pool.snapshot() for b in s["blocks"] if b["state"] == "active_allocated"] == [3 * MIB]
del pool, inside
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() == 4 * MIB
""",
    "statistics_by_pool": """
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    inside = bytes_(3 * MIB)
name = f"reserved_bytes_by_private_pools.{pool.id[0]}_{pool.id[1]}.all.current"
stats = torch.cuda.memory_stats()
if not torch.__version__.startswith("2.11."):  # it has none
    assert stats[name] == 4 * MIB, [key for key in stats if "private" in key]
""",
    "use_on_oom": """
torch.cuda.set_per_process_memory_fraction(1 / 256)  # 96 MiB
pool = torch.cuda.MemPool(use_on_oom=True)
with torch.cuda.use_mem_pool(pool):
    inside = bytes_(80 * MIB)
address = inside.data_ptr()
del inside
assert bytes_(60 * MIB).data_ptr() == address
""",
    "no_split": """
pool = torch.cuda.MemPool(no_split=True)
with torch.cuda.use_mem_pool(pool):
    blocks = [bytes_(3 * MIB), bytes_(5 * MIB)]
assert [len(s["blocks"]) for s in pool.snapshot()] == [1, 1]
""",
    "own_allocator": """
import ctypes
cudart = ctypes.CDLL("libcudart.so.13")
asked, freed = [], []
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
def allocate(size, device, stream):
    asked.append(size)
    address = ctypes.c_void_p()
    return address.value if cudart.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)) == 0 else None
@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
def free(address, size, device, stream):
    freed.append(size)
    cudart.cudaFree(ctypes.c_void_p(address))
numbers = [ctypes.cast(f, ctypes.c_void_p).value for f in (allocate, free)]
bytes_(1)
pool = torch.cuda.MemPool(torch._C._cuda_customAllocator(*numbers))
with torch.cuda.use_mem_pool(pool):
    blocks = [bytes_(MIB) for _ in range(3)]
    large = bytes_(11 * MIB)
assert asked == [2 * MIB, 2 * MIB, 12 * MIB], asked
assert not any(s["is_expandable"] for s in pool.snapshot())
try:
    with torch.cuda.use_mem_pool(pool):
        bytes_(30 << 30)
    raise SystemExit("30 GiB of a card of 24")
except torch.OutOfMemoryError:
    pass
del blocks, large, pool
assert sorted(freed) == sorted(asked), freed
""",
    "a_pool_goes_back_to_its_checkpoint": """
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    first = bytes_(4 * MIB)
state = torch._C._cuda_getCheckpointState(0, graph.pool())
torch._C._cuda_beginAllocateCurrentThreadToPool(0, graph.pool())
second = bytes_(4 * MIB)
torch._C._cuda_endAllocateToPool(0, graph.pool())
torch._C._cuda_releasePool(0, graph.pool())
assert torch._C._cuda_checkPoolLiveAllocations(0, graph.pool(), {first.data_ptr(), second.data_ptr()})
first_address = first.untyped_storage().data_ptr()
torch._C._cuda_setCheckpointPoolState(0, state, [first.untyped_storage()._cdata, second.untyped_storage()._cdata], [])
assert torch._C._cuda_checkPoolLiveAllocations(0, graph.pool(), {first_address})
""",
}


# On such a card chunks are granules of 2 MiB, and reserved bytes are the requested bytes.
SMALL_CARD = "4GiB"
EXACT = ("a_graphs_memory_is_its_own", "use_count", "statistics_by_pool")


@pytest.mark.parametrize("name", WORKS)
def test_pool_functions_work(name, tmp_path):
    on_card(MIB + WORKS[name], tmp_path, card=SMALL_CARD if name in EXACT else "24GiB")


FULL_BESIDE_A_GRAPH = """
import torch
static = torch.zeros(64 << 20, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    result = (static + 1) * 2
del result
try:
    torch.empty(ASKED << 20, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    print(error)
"""


def test_out_of_memory_reports_graph_memory_as_torch_does(tmp_path):
    for allocator in ("native", "memtrace"):
        run = on_card(
            FULL_BESIDE_A_GRAPH.replace("ASKED", "30000"),
            tmp_path,
            card=SMALL_CARD,
            options=("--allocator", allocator),
        )
        said = run.out
        assert (
            "Of the allocated memory 768.00 MiB is allocated by PyTorch, with 512.00 MiB allocated in private pools "
            "(e.g., CUDA Graphs), and " in said
        ), said


def test_memory_of_private_pools_is_a_separate_entry(tmp_path):
    run = on_card(FULL_BESIDE_A_GRAPH.replace("ASKED", "2900"), tmp_path, card=SMALL_CARD)
    assert "The request is larger than the unused memory, although most of the card is unused" in run.out
    assert "memtrace: 512.00 MiB is free in private pools." in run.out
    report = run.report()
    ledger = {entry["name"]: entry["bytes"] for entry in report["ledger"]}
    assert ledger["private_pools"] == 512 << 20 and ledger["unexplained"] == 0, ledger
    assert report["verdict"]["cause"] == "too_large"
    assert report["verdict"]["contributing_bytes"]["private_pool"] == 512 << 20, report["verdict"]
