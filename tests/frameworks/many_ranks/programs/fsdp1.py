# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""FullyShardedDataParallel (FSDP1) with one flat parameter for each block and mixed precision."""

import os

import torch
import torch.distributed as dist
from job_end import end
from tiny_gpt import Block, TinyGpt, loss_of, tokens
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

card = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(card)
dist.init_process_group("nccl")
model = FullyShardedDataParallel(
    TinyGpt(),
    auto_wrap_policy=ModuleWrapPolicy({Block}),
    mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32),
    sync_module_states=True,
    device_id=card,
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    batch = tokens()
    loss = loss_of(model(batch), batch)
    loss.backward()
    model.clip_grad_norm_(1.0)
    optimizer.step()
    optimizer.zero_grad()
end()
