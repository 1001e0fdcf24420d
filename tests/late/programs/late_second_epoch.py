# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of the evaluation between two epochs is still there in the second one (llama-cookbook#320)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(12)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
train = [torch.zeros(2048) for _ in range(12_800)]
validation = [torch.zeros(2048) for _ in range(4_096)]


def evaluate() -> torch.Tensor:
    """Returns the loss over the validation's data. Its graph holds all activations."""
    with torch.set_grad_enabled("--mended" not in sys.argv):
        batches = DataLoader(validation, batch_size=1024)
        losses = [model(batch.cuda()).square().mean() for batch in batches]  # runs out
        return torch.stack(losses).mean()


for _ in range(3):
    for batch in DataLoader(train, batch_size=2048 // 16):
        time.sleep(0.05)
        model(batch.cuda()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    loss = evaluate()
