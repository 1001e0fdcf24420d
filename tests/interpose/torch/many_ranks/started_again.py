# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Leaves torch.distributed and starts it again on env://, and reads the result of a functional sum."""

import os

import torch
import torch.distributed as dist
from job_end import end
from torch.distributed import _functional_collectives as functional

card = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(card)
sums = []
for _ in range(3):
    dist.init_process_group("nccl")
    group = dist.new_group(range(dist.get_world_size()))
    summed = torch.ones(1, device=card)
    dist.all_reduce(summed, group=group)
    sums.append(summed.item())
    if len(sums) < 3:
        dist.destroy_process_group()
number = torch.tensor(2.5, device=card)
read = functional.all_reduce(number, "sum", dist.group.WORLD).item()
largest = functional.all_reduce(number, "max", dist.group.WORLD)
end(sums=sums, read=read, largest=(largest * 2).item(), comparison=bool(largest > 2))
