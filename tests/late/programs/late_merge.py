# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""After the training, adapters are merged into an fp32 copy of the weights (a class of several reports)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader


class Adapted(nn.Module):
    """A frozen layer with an adapter of rank 8."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(4096, 4096, bias=False).requires_grad_(False)
        self.down = nn.Linear(4096, 8, bias=False)
        self.up = nn.Linear(8, 4096, bias=False)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        return self.base(value) + self.up(self.down(value))


model = nn.Sequential(*[Adapted() for _ in range(16)]).to(torch.bfloat16).cuda()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], fused=True)
data = [torch.zeros(4096) for _ in range(3_200)]
for batch in DataLoader(data, batch_size=16):
    time.sleep(0.05)
    model(batch.cuda().bfloat16()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
merged = []
for layer in model:
    weight = layer.base.weight.float() + layer.up.weight.float() @ layer.down.weight.float()  # runs out
    merged.append(weight.to("cpu" if "--mended" in sys.argv else "cuda"))
