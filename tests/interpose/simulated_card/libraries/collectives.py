# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Two ranks communicate by NCCL through torch.distributed; each prints what it received as a line of JSON."""

import json
import os
import sys

import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
other = 1 - rank
torch.cuda.set_device(rank)
dist.init_process_group("nccl")


def whole(*values: int) -> torch.Tensor:
    return torch.tensor(values, device="cuda")


got: dict[str, object] = {"rank": rank}

summed = torch.tensor([rank + 1.0, 10.0], device="cuda")
dist.all_reduce(summed)
got["all_reduce"] = summed.tolist()

largest = torch.tensor([1.5 * (rank + 1)], device="cuda", dtype=torch.bfloat16)
dist.all_reduce(largest, op=dist.ReduceOp.MAX)
got["all_reduce_max"] = largest.item()

# The lengths differ: the padding of the shorter one is unknown.
objects = [None, None]
dist.all_gather_object(objects, {"from": rank, "text": "a" * 10 * rank})
got["all_gather_object"] = objects

said = [f"from {rank}"]
dist.broadcast_object_list(said, src=1)
got["broadcast_object_list"] = said

part = whole(0)
dist.reduce_scatter_tensor(part, whole(rank, 5 + rank))
got["reduce_scatter"] = part.item()

swapped = whole(0, 0)
dist.all_to_all_single(swapped, whole(10 * rank, 10 * rank + 1))
got["all_to_all"] = swapped.tolist()

received = whole(0)
if rank == 0:
    dist.send(whole(42), 1)
else:
    dist.recv(received, 0)
got["recv"] = received.item()

exchanged = whole(0)
for work in dist.batch_isend_irecv(
    [dist.P2POp(dist.irecv, exchanged, other), dist.P2POp(dist.isend, whole(rank), other)]
):
    work.wait()
got["batch_isend_irecv"] = exchanged.item()

group = dist.new_group([0, 1])
in_group = whole(rank + 7)
dist.broadcast(in_group, src=1, group=group)
got["new_group"] = in_group.item()

dist.barrier(device_ids=[rank])
got["unknown"] = torch.nn.Linear(2, 2).cuda()(torch.randn(2, device="cuda")).isnan().any().item()
sys.stdout.write(json.dumps(got) + "\n")  # a line at a time, where print makes two writes
sys.stdout.flush()
dist.destroy_process_group()
