# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of NCCL, each with the bytes that this rank sends: within its machine, over the network, and its sends."""

import os
from collections.abc import Callable

import torch
import torch.distributed as dist
from job_end import end
from memtrace._fit.costs import Costs

dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
card = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(card)
dist.barrier(device_ids=[card])
got: dict[str, list[int]] = {}


def count(name: str, call: Callable[[], object]) -> None:
    costs = Costs()
    call()
    costs.step_ended()
    sent = costs.of_last_step()
    got[name] = [sent["sent_bytes"], sent["sent_bytes_network"], sent["sends"]]


def exchange() -> None:
    if rank == 0:
        dist.send(own, 1)
        dist.send(own, world - 1)
    elif rank in {1, world - 1}:
        for _ in range(2 if world == 2 else 1):
            dist.recv(own, 0)


own = torch.zeros(1024, device="cuda")
everyone = torch.zeros(1024 * world, device="cuda")
# The first and the last rank, which are of two machines if there are several.
ends = dist.new_group([0, world - 1])

count("all_reduce", lambda: dist.all_reduce(own))
count("all_gather", lambda: dist.all_gather_into_tensor(everyone, own))
count("reduce_scatter", lambda: dist.reduce_scatter_tensor(own, everyone))
count("all_to_all", lambda: dist.all_to_all_single(torch.empty_like(everyone), everyone))
count("broadcast", lambda: dist.broadcast(own, src=0))
count("send", exchange)
if rank in {0, world - 1}:
    count("all_reduce_of_ends", lambda: dist.all_reduce(own, group=ends))
end(sent=got)
