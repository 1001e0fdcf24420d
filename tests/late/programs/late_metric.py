# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A metric that is never reset keeps what each validation adds (geo-deep-learning#582)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 8192)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
train = [torch.zeros(512) for _ in range(2_560)]
validation = [torch.zeros(512) for _ in range(4_096)]


class Kept:
    """A metric whose state is a list of all predictions."""

    def __init__(self) -> None:
        self.predictions: list[torch.Tensor] = []

    def compute(self) -> int:
        return sum(len(each) for each in self.predictions)


metric = Kept()
for epoch in range(20):
    for batch in DataLoader(train, batch_size=256):
        time.sleep(0.05)
        model(batch.cuda()).sum().backward()  # runs out
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        for batch in DataLoader(validation, batch_size=1024):
            metric.predictions.append(model(batch.cuda()))
    print(epoch, metric.compute())
    if "--mended" in sys.argv:
        metric.predictions.clear()
