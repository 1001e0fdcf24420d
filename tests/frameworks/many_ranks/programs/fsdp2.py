# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""FSDP2 as torch's tutorial writes it: fully_shard of each block, bfloat16 parameters, clipped gradients."""

import os

import torch
import torch.distributed as dist
from job_end import end
from tiny_gpt import TinyGpt, loss_of, tokens
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
with torch.device("meta"):
    model = TinyGpt()
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for block in model.blocks:
    fully_shard(block, mp_policy=policy)
fully_shard(model, mp_policy=policy)
model.to_empty(device="cuda")
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, std=0.02)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    batch = tokens()
    loss = loss_of(model(batch), batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
end()
