# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Context parallelism of torch.distributed.tensor, as its tutorial writes it: ranks share the length of each text.

Usage: context_parallel.py allgather|alltoall.
"""

import os
import sys

import torch
from job_end import end
from parts import parts
from tiny_gpt import WIDTH, Attention
from torch import nn
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import set_rotate_method
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = parts("context")
set_rotate_method(sys.argv[1])
layers = nn.Sequential(*[Attention() for _ in range(4)]).to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(layers.parameters(), lr=1e-4)
for _ in range(3):
    hidden = torch.randn(2, 2048, WIDTH, device="cuda", dtype=torch.bfloat16)
    shared = context_parallel(mesh, buffers=[hidden], buffer_seq_dims=[1], no_restore_buffers={hidden})
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]), shared:
        layers(hidden).square().mean().backward()
    for weight in layers.parameters():
        torch.distributed.all_reduce(weight.grad, op=torch.distributed.ReduceOp.AVG)
    optimizer.step()
    optimizer.zero_grad()
end()
