# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Validation images have their full size (DB#320)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

side = 640 if "--mended" in sys.argv else 4096
model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 8, 3, padding=1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train = [torch.zeros(3, 256, 256) for _ in range(800)]
validation = [torch.zeros(3, 512, 512) for _ in range(3)] + [torch.zeros(3, side, side)]
for batch in DataLoader(train, batch_size=4):
    time.sleep(0.05)
    model(batch.cuda()).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
for image in DataLoader(validation, batch_size=1):
    with torch.no_grad():
        model(image.cuda())  # runs out
