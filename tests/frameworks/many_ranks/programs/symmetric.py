# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Symmetric memory of torch: an all-reduce that reads the other cards' memory, and matrix products with their parts.

The products are those of asynchronous tensor parallelism.
"""

import os

import torch
import torch.distributed._symmetric_memory as symm_mem
from job_end import end
from parts import parts

card = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(card)
group = parts("tensor").get_group()
shared = symm_mem.empty(1 << 20, dtype=torch.bfloat16, device=card)
symm_mem.rendezvous(shared, group)
part = torch.randn(256, 1024, dtype=torch.bfloat16, device=card)
up, down = torch.randn(1024, 512, dtype=part.dtype, device=card), torch.randn(512, 1024, dtype=part.dtype, device=card)
for _ in range(3):
    shared.normal_()
    torch.ops.symm_mem.one_shot_all_reduce(shared, "sum", group.group_name)
    _, (hidden,) = torch.ops.symm_mem.fused_all_gather_matmul(part, [up], 0, group.group_name)
    part = torch.ops.symm_mem.fused_matmul_reduce_scatter(hidden, down, "sum", 0, group.group_name)
end()
