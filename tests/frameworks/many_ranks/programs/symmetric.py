# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Symmetric memory of torch: tensor parallelism whose all-reduce reads the other cards' memory."""

import os

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from job_end import end

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
shared = symm_mem.empty(1 << 20, dtype=torch.bfloat16, device=f"cuda:{os.environ['LOCAL_RANK']}")
symm_mem.rendezvous(shared, dist.group.WORLD)
for _ in range(3):
    shared.normal_()
    torch.ops.symm_mem.one_shot_all_reduce(shared, "sum", dist.group.WORLD.group_name)
end()
