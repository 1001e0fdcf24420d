# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.pipelining with as many stages as the first argument says, and FSDP2 within each stage."""

import os
import sys

import torch
import torch.distributed as dist
from job_end import end
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

stages = int(sys.argv[1])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (stages, int(os.environ["WORLD_SIZE"]) // stages), mesh_dim_names=("pipeline", "data"))
place = mesh.get_local_rank("pipeline")
net = nn.Sequential(*[nn.Linear(512, 512) for _ in range(8 if place == 0 else 4)]).to(device)
for layer in net:
    fully_shard(layer, mesh=mesh["data"])
fully_shard(net, mesh=mesh["data"])
stage = PipelineStage(net, place, stages, device, group=mesh.get_group("pipeline"))
schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=nn.functional.mse_loss)
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(2):
    if place == 0:
        schedule.step(torch.randn(64, 512, device=device))
    elif place == stages - 1:
        schedule.step(target=torch.randn(64, 512, device=device), losses=[])
    else:
        schedule.step()
    optimizer.step()
    optimizer.zero_grad()
end(stage=place)
