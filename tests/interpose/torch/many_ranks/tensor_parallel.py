# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tensor parallelism over 2 cards with FSDP2 over the others, as torch's tutorial writes it."""

import os

import torch
from job_end import end
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return given + self.down(torch.relu(self.up(self.norm(given))))


torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (int(os.environ["WORLD_SIZE"]) // 2, 2), mesh_dim_names=("data", "tensor"))
net = nn.Sequential(*[Block(512) for _ in range(4)])
for block in net:
    parallelize_module(block, mesh["tensor"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    fully_shard(block, mesh=mesh["data"])
fully_shard(net, mesh=mesh["data"])
net.cuda()
optimizer = torch.optim.AdamW(net.parameters(), foreach=False)
for _ in range(3):
    net(torch.randn(4, 256, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
end()
