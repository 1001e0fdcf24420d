# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""After the training, the best checkpoint comes back to the card beside what trained (mmf#185)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
data = [torch.zeros(2048) for _ in range(25_600)]
for number, batch in enumerate(DataLoader(data, batch_size=128)):
    time.sleep(0.05)
    model(batch.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if number == 1:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "best.pt")
best = torch.load("best.pt", map_location="cpu" if "--mended" in sys.argv else "cuda")  # runs out
model.load_state_dict(best["model"])
optimizer.load_state_dict(best["optimizer"])
