# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The optimizer of a trial with another batch size stays referenced, with its states (Lightning#6570)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

data = [torch.zeros(4096) for _ in range(3_200)]
kept = []


def train(batch_size: int, steps: int, hidden: int) -> None:
    """Trains a new model."""
    layers = [nn.Linear(4096, hidden) if i % 2 == 0 else nn.Linear(hidden, 4096) for i in range(8)]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for number, batch in enumerate(DataLoader(data, batch_size=batch_size)):
        time.sleep(0.05)
        model(batch.cuda()).sum().backward()
        optimizer.step()  # runs out
        optimizer.zero_grad()
        if number + 1 == steps:
            break
    if "--mended" not in sys.argv:
        kept.append(optimizer)


train(16, 100, 4096)
train(32, 100, 4096)
