# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sorted data, and a batch that takes what is left at the end: the longest items meet there (DeepSpeech#321)."""

import sys
import time

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

COUNT = 1_630
batches = [list(range(start, start + 8)) for start in range(0, 1_600, 8)]
rest = list(range(1_600, COUNT))
batches += [rest[:8], rest[8:16], rest[16:24], rest[24:]] if "--mended" in sys.argv else [rest]
samples = [torch.zeros(40 + index // 12, 256) for index in range(COUNT)]
model = nn.Sequential(nn.Linear(256, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 4096)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for sounds in DataLoader(
    samples, batch_sampler=batches, collate_fn=lambda items: pad_sequence(items, batch_first=True)
):
    time.sleep(0.05)
    model(sounds.cuda()).square().mean().backward()  # runs out
    optimizer.step()
    optimizer.zero_grad()
