# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The validation decodes an image of the full size with a decoder in fp32 (diffusers#4736)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

denoiser = nn.Sequential(nn.Conv2d(4, 320, 3, padding=1), nn.SiLU(), nn.Conv2d(320, 4, 3, padding=1)).cuda()
decoder = nn.Sequential(
    *(nn.Conv2d(4, 256, 3, padding=1), nn.Upsample(scale_factor=8), nn.SiLU()),
    *(nn.Conv2d(256, 128, 3, padding=1), nn.SiLU(), nn.Conv2d(128, 3, 3, padding=1)),
).cuda()
optimizer = torch.optim.AdamW(denoiser.parameters(), fused=True)
latents = [torch.zeros(4, 64, 64) for _ in range(800)]
side = 32 if "--mended" in sys.argv else 128


def validate() -> None:
    """Decodes one image."""
    denoiser.eval()
    with torch.no_grad():
        decoder(denoiser(torch.zeros(1, 4, side, side, device="cuda")))  # runs out
    denoiser.train()


for step, batch in enumerate(DataLoader(latents, batch_size=4), start=1):
    time.sleep(0.05)
    denoiser(batch.cuda()).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 150 == 0:
        validate()
