# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""FSDP2 and a sharded checkpoint of torch.distributed.checkpoint, written into the folder that is given."""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from job_end import end
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("cpu:gloo,cuda:nccl")
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).cuda()
for layer in net:
    fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
optimizer = torch.optim.AdamW(net.parameters())
net(torch.randn(8, 512, device="cuda")).sum().backward()
optimizer.step()
optimizer.zero_grad()
model, states = get_state_dict(net, optimizer)
dcp.save({"model": model, "optimizer": states}, checkpoint_id=sys.argv[1])
written = [file.stat().st_size for file in Path(sys.argv[1]).glob(f"__{dist.get_rank()}_*")]
end(written=sum(written))
