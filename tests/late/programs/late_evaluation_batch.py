# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The evaluation uses larger batches than the training (ultralytics#7030)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(1024, 4096) if i % 2 == 0 else nn.Linear(4096, 1024) for i in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
data = [torch.zeros(1024) for _ in range(51_200)]


def evaluate(batch_size: int) -> None:
    """Runs the model over data that it was not trained with. The outputs of a layer and the next exist together."""
    model.eval()
    with torch.no_grad():
        for batch in DataLoader(data[:40_960], batch_size=batch_size):
            model(batch.cuda())  # runs out
    model.train()


for _ in range(2):
    for batch in DataLoader(data, batch_size=256):
        time.sleep(0.05)
        model(batch.cuda()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    evaluate(256 if "--mended" in sys.argv else 40_960)
