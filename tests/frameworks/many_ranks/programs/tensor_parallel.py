# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tensor and sequence parallelism of DTensor with a vocabulary that the ranks do not divide, and a parallel loss."""

import os

import torch
from job_end import end
from parts import parts
from tiny_gpt import TinyGpt, tokens
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = parts("tensor")
model = TinyGpt().cuda()
whole = PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))
for block in model.blocks:
    plan = {
        "before_attention": SequenceParallel(),
        "attention": whole,
        "attention.query": ColwiseParallel(),
        "attention.key": ColwiseParallel(),
        "attention.value": ColwiseParallel(),
        "attention.out": RowwiseParallel(output_layouts=Shard(1)),
        "before_mlp": SequenceParallel(),
        "up": ColwiseParallel(input_layouts=Shard(1)),
        "down": RowwiseParallel(output_layouts=Shard(1)),
    }
    parallelize_module(block, mesh, plan)
ends = {
    "embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
    "head": ColwiseParallel(input_layouts=Shard(1), use_local_output=False),
}
parallelize_module(model, mesh, ends)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    batch = tokens()
    with loss_parallel():
        scores = model(batch)
        torch.nn.functional.cross_entropy(scores.flatten(0, 1), batch.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()
end()
