# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The mean of all losses keeps the graph of each step (pytorch#17568)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
data = [torch.zeros(1024) for _ in range(51_200)]
total = torch.zeros((), device="cuda")
for batch in DataLoader(data, batch_size=256):
    time.sleep(0.05)
    loss = model(batch.cuda()).square().mean()
    loss.backward(retain_graph=True)  # runs out
    optimizer.step()
    optimizer.zero_grad()
    total = total + (loss.detach() if "--mended" in sys.argv else loss)
print(total)
