# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""FSDP2 over a mesh of one dimension, or of two if "hybrid" is given; "eager" binds the process group to the card."""

import os
import sys

import torch
import torch.distributed as dist
from job_end import end
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

card = int(os.environ["LOCAL_RANK"])
world = int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(card)
if "eager" in sys.argv:
    dist.init_process_group("nccl", device_id=torch.device("cuda", card))
if "hybrid" in sys.argv:
    mesh = init_device_mesh("cuda", (world // 4, 4), mesh_dim_names=("replicate", "shard"))
else:
    mesh = init_device_mesh("cuda", (world,))
with torch.device("meta"):
    layers = [torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True) for _ in range(4)]
net = torch.nn.Sequential(*layers)
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for layer in net:
    fully_shard(layer, mesh=mesh, mp_policy=policy)
fully_shard(net, mesh=mesh, mp_policy=policy)
net.to_empty(device="cuda")
for parameter in net.parameters():
    torch.nn.init.normal_(parameter)
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3):
    net(torch.randn(4, 256, 512, device="cuda")).sum().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
end()
