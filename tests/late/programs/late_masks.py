# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""An evaluation enlarges all masks of a photograph to its own size (mmdetection#7148)."""

import sys
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 100, 3, padding=1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [torch.zeros(3, 138, 138) for _ in range(800)]
height, width = (400, 600) if "--mended" in sys.argv else (3000, 4000)
for batch in DataLoader(data, batch_size=4):
    time.sleep(0.05)
    model(batch.cuda()).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
with torch.no_grad():
    masks = model(data[0][None].cuda())
    enlarged = functional.interpolate(masks, (height, width), mode="bilinear")  # runs out
