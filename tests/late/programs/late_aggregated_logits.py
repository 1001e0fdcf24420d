# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The final validation adds up the logits of all windows of a volume on the card (nnUNet#2912)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Conv3d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv3d(16, 12, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
patches = [torch.zeros(1, 32, 64, 64) for _ in range(400)]
for batch in DataLoader(patches, batch_size=2):
    time.sleep(0.05)
    model(batch.cuda()).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
place = "cpu" if "--mended" in sys.argv else "cuda"
with torch.no_grad():
    logits = torch.zeros(12, 320, 384, 384, device=place)  # runs out
    for start in range(0, 320, 32):
        logits[:, start : start + 32, :64, :64] += model(patches[0][None].cuda())[0].to(place)
