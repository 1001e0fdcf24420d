# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel, as torch's documentation writes it."""

import os

import torch
import torch.distributed as dist
from job_end import end
from torch.nn.parallel import DistributedDataParallel

card = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(card)
dist.init_process_group("nccl")
net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).cuda()
net = DistributedDataParallel(net, device_ids=[card])
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3):
    net(torch.randn(64, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
summed = torch.ones(1, device="cuda")
dist.all_reduce(summed)
told: list[int] = [-1] * dist.get_world_size()
dist.all_gather_object(told, dist.get_rank())
dist.barrier()
end(summed=summed.item(), told=told)
