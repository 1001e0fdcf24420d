# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed's NCCL backend on simulated cards (docs/design/collectives.md)."""

import json
from pathlib import Path

import pytest
from support.programs import MIB, on_card

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
HERE = Path(__file__).parent

DATA_PARALLEL = """
import json
import torch
from torch.cuda import comm, nccl

net = torch.nn.DataParallel(torch.nn.Linear(64, 64).cuda())
result = net(torch.randn(8, 64, device="cuda"))
result.sum().backward()
numbers = [torch.full((3,), float(i + 1), device=f"cuda:{i}") for i in range(2)]
nccl.all_reduce(numbers)
copies = comm.broadcast(torch.tensor([1, 2, 3], device="cuda:0"), [0, 1])
print(json.dumps({
    "shape": list(result.shape),
    "gradients": [list(p.grad.shape) for p in net.parameters()],
    "summed": [n.tolist() for n in numbers],
    "copies": [c.tolist() for c in copies],
}))
"""

FULLY_SHARDED = """
import json
import os
import sys
import torch
import torch.distributed as dist
from memtrace._hooks.optimizer_facts import optimizer_facts
from torch.distributed.fsdp import fully_shard

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
net = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024, bias=False) for _ in range(4)]).cuda()
for layer in net:
    fully_shard(layer)
fully_shard(net)
torch.cuda.synchronize()
sharded = torch.cuda.memory_allocated()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _ in range(3):
    net(torch.randn(8, 1024, device="cuda")).sum().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    facts = optimizer_facts(torch, optimizer)
    optimizer.step()
    optimizer.zero_grad()
sys.stdout.write(json.dumps({"rank": rank, "sharded": sharded, "steps": 3, "facts": facts}) + "\\n")
sys.stdout.flush()
dist.destroy_process_group()
"""

LEAVES_EARLY = """
import os
import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
numbers = torch.ones(2 if rank else 1, device="cuda")
dist.all_reduce(numbers)
"""


SUMMED = """
import os
import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
numbers = torch.ones(8 << 20, device="cuda")
dist.all_gather_into_tensor(torch.empty(2, device="cuda"), numbers[:1])
dist.all_reduce(numbers)
dist.barrier()
dist.destroy_process_group()
"""

FULL = """
import os
import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
held = torch.empty(torch.cuda.mem_get_info()[0] - (100 << 20), dtype=torch.uint8, device="cuda")
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
"""


def by_rank(out: str) -> list[dict]:
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return sorted(lines, key=lambda line: line["rank"])


# With 1 the process group registers every segment with NCCL as the allocator maps it. Newer torches always do.
@pytest.mark.parametrize("registered", ["1", pytest.param("0", marks=pytest.mark.slow)])
def test_collectives_exchange_values_between_ranks(registered, tmp_path):
    environment = {"TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK": registered}
    run = on_card(HERE / "collectives.py", tmp_path, card="2x4GiB", launcher=TORCHRUN, **environment)
    first, second = by_rank(run.out)
    for got in (first, second):
        assert got["all_reduce"] == [3.0, 20.0]
        assert got["all_reduce_max"] == 3.0
        assert got["all_gather_object"] == [{"from": 0, "text": ""}, {"from": 1, "text": "a" * 10}]
        assert got["broadcast_object_list"] == ["from 1"]
        assert got["new_group"] == 8
        assert got["unknown"] is False
    assert (first["reduce_scatter"], second["reduce_scatter"]) == (1, 11)
    assert (first["all_to_all"], second["all_to_all"]) == ([0, 10], [1, 11])
    assert (first["recv"], second["recv"]) == (0, 42)
    assert (first["batch_isend_irecv"], second["batch_isend_irecv"]) == (1, 0)


def test_data_parallel_works_in_one_process(tmp_path):
    got = on_card(DATA_PARALLEL, tmp_path, card="2x4GiB").printed()
    assert got == {
        "shape": [8, 64],
        "gradients": [[64, 64], [64]],
        "summed": [[3.0] * 3] * 2,
        "copies": [[1, 2, 3]] * 2,
    }


@pytest.mark.parametrize("values", ["on", pytest.param("off", marks=pytest.mark.slow)])
def test_fully_sharded_parameters_take_half_a_card_each(tmp_path, values):
    options = ("--host-values", values)
    ranks = by_rank(on_card(FULLY_SHARDED, tmp_path, card="2x4GiB", launcher=TORCHRUN, options=options).out)
    assert [(got["rank"], got["steps"]) for got in ranks] == [(0, 3), (1, 3)]
    for got in ranks:
        assert 8 * MIB <= got["sharded"] < 9 * MIB  # of 16
        assert got["facts"]["optimizer.elements"] == str(2 * MIB)  # of this rank, not of the job
        assert got["facts"]["optimizer.state_bytes"] == str(16 * MIB)


def test_mismatched_collectives_fail_instead_of_hanging(tmp_path):
    finished = on_card(LEAVES_EARLY, tmp_path, card="2x4GiB", launcher=TORCHRUN, expect=1)
    assert "calls ncclAllReduce of 4 bytes, rank 1 ncclAllReduce of 8 bytes" in finished.err


# Two H100 with NVLink and NCCL 2.28.9 (docs/design/nccl-memory.md): the communicator with 32 channels and the switch's
# 16; a ring of 24 channels; the switch for a large sum.
NCCL_MIB = {"communicator": 2 * (2 + 3 * 32 + 16 + 1), "ring": 24 * 12, "switch": 2 * 16 * 2}


def test_communicators_take_memory_of_the_card(tmp_path):
    report = on_card(SUMMED, tmp_path, card="2xh100-80gb", launcher=TORCHRUN).report()
    (nccl,) = report["simulated"]["nccl"]
    most = sum(NCCL_MIB.values()) * MIB
    assert (nccl["bytes"], nccl["most"]) == (most, most)
    assert nccl["least"] == most - NCCL_MIB["switch"] * MIB
    assert nccl["communicators"] == 1


def test_stated_bytes_replace_the_rule(tmp_path):
    report = on_card(SUMMED, tmp_path, card="2xh100-80gb,nccl=300MiB", launcher=TORCHRUN).report()
    (nccl,) = report["simulated"]["nccl"]
    assert (nccl["bytes"], nccl["least"], nccl["most"]) == (300 * MIB,) * 3


def test_a_full_card_refuses_a_communicator(tmp_path):
    finished = on_card(FULL, tmp_path, card="2x8GiB,link=nvlink", launcher=TORCHRUN, expect=1)
    # Since 2.15, torch's process group does not ask NCCL for the reason ("Cuda failure 2 'out of memory'").
    assert "unhandled cuda error" in finished.err
    report = finished.report()
    assert report["request"]["site"].startswith("NCCL")
    assert report["request"]["obtainable"] == 100 * MIB
    assert report["verdict"]["cause"] == "capacity"
