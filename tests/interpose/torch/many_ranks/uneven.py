# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tensor parallelism over nine large rows, which ranks cannot share evenly: of eight, four hold two, and three none."""

import os

import torch
import torch.distributed as dist
from job_end import end
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (dist.get_world_size(),), mesh_dim_names=("tp",))
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1 << 18, 9, bias=False, device="cuda"))
parallelize_module(net, mesh, {"0": ColwiseParallel(output_layouts=Replicate())})
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(2):
    net(torch.randn(8, 1 << 18, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
end()
