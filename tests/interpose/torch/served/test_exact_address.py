# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Storage at an address that the program chooses (UntypedStorage._resize_with_addr_) is served as torch serves it."""

from importlib import metadata

import pytest
from support.programs import on_card

TORCH = tuple(int(part) for part in metadata.version("torch").split(".")[:2])
pytestmark = pytest.mark.skipif(TORCH < (2, 14), reason="torch has allocateWithAddress since 2.14")

PROGRAM = """
import json, torch
MIB = 1 << 20
answers = {}

def ask(what, size, address, base):
    storage = torch.empty(0, dtype=torch.uint8, device="cuda").untyped_storage()
    before = torch.cuda.memory_reserved()
    try:
        storage._resize_with_addr_(size, address)
        answers[what] = [storage.data_ptr() - base, torch.cuda.memory_allocated()]
    except Exception as error:
        said = str(error).splitlines()[0].replace(hex(address), "ADDRESS")
        answers[what] = f"{type(error).__name__}: {said}"
    assert torch.cuda.memory_reserved() == before
    return storage

def freed(bytes_):
    tensor = torch.empty(bytes_, dtype=torch.uint8, device="cuda")
    return tensor.data_ptr()

base = freed(40 * MIB)
start = ask("the start of a free range", 4 * MIB, base, base)
ask("in use", 4 * MIB, base, base)
del start
middle = ask("the middle of a free range", 4 * MIB, base + 6 * MIB, base)
ask("partly in use", 4 * MIB, base + 4 * MIB, base)
below = ask("just before what is in use", 2 * MIB, base + 4 * MIB, base)
again = ask("the size is rounded", 5 * MIB + 1, base + 12 * MIB, base)
del middle, below, again
ask("not aligned", 4 * MIB, base + 100, base)
ask("past what is mapped", 8 * MIB, base + 36 * MIB, base)
ask("not the allocator's", 4 * MIB, base - (1 << 30), base)
ask("small among large", 512, base + 8 * MIB, base)
ask("null", 4 * MIB, 0, base)
small = freed(4000)
ask("small", 512, small + 1024, small)
ask("large among small", 2 * MIB, small, small)
with torch.cuda.stream(torch.cuda.Stream()):
    ask("another stream's", 4 * MIB, base, base)

pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    inside = freed(8 * MIB)
    ask("in the pool", 4 * MIB, inside + 2 * MIB, inside)
ask("in a pool, from outside", 4 * MIB, inside, inside)

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    written = torch.empty(8 * MIB, dtype=torch.uint8, device="cuda")
    written.add_(1)
    result = written.data_ptr()
    del written
    taken = ask("in a capture", 8 * MIB, result, result)
    taken.fill_(0)
    del taken
graph.replay()
print(json.dumps(answers))
"""


def test_storage_at_an_address_is_served_as_by_torch(tmp_path):
    torchs, ours = (
        on_card(PROGRAM, tmp_path, card="4GiB", options=("--allocator", allocator)).printed()
        for allocator in ("native", "memtrace")
    )
    assert ours == torchs
    assert ours["the middle of a free range"] == [6 << 20, 4 << 20]
    assert ours["in use"] == "RuntimeError: Could not allocate CUDA storage at exact address ADDRESS"


RECORDED = """
import torch
first = torch.empty(8 << 20, dtype=torch.uint8, device="cuda").data_ptr()
storage = torch.empty(0, dtype=torch.uint8, device="cuda").untyped_storage()
storage._resize_with_addr_(4 << 20, first + (2 << 20))
stats = torch.cuda.memory_stats()
assert stats["num_alloc_retries"] == stats["num_ooms"] == 0, stats
assert stats["requested_bytes.all.peak"] == 8 << 20
"""


def test_storage_at_an_address_is_recorded(tmp_path):
    stats = on_card(RECORDED, tmp_path).stats()
    assert stats["devices"][0]["allocated"] == 4 << 20, stats
