# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every save builds a second pipeline for previews and keeps it (sd_dreambooth_extension#173)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
data = [torch.zeros(2048) for _ in range(12_800)]
previews = []


def save(epoch: int) -> None:
    """Writes a checkpoint, and loads it into a pipeline that draws a preview."""
    torch.save(model.state_dict(), f"epoch-{epoch}.pt")
    denoiser, encoder = (nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]) for _ in range(2))
    denoiser.load_state_dict(torch.load(f"epoch-{epoch}.pt", map_location="cpu"))
    pipeline = nn.Sequential(encoder, denoiser)
    previews.append(pipeline if "--mended" in sys.argv else pipeline.cuda())  # runs out


for epoch in range(4):
    for batch in DataLoader(data, batch_size=256):
        time.sleep(0.05)
        model(batch.cuda()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    save(epoch)
