# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""One transcript is far too long, and memory grows with sound times text (icefall#521)."""

import sys
import time

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

longest = 40 if "--mended" in sys.argv else 700
lengths = [longest if i == 1_171 else 20 + i % 15 for i in range(1_600)]
samples = [(torch.zeros(300, 80), torch.zeros(length, dtype=torch.long)) for length in lengths]
sound = nn.Linear(80, 512).cuda()
text = nn.Embedding(500, 512).cuda()
joint = nn.Linear(512, 500).cuda()
optimizer = torch.optim.AdamW([*sound.parameters(), *text.parameters(), *joint.parameters()], fused=True)


def together(items: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Pads the sounds and the texts of a batch to its longest."""
    sounds, texts = zip(*items, strict=True)
    return pad_sequence(sounds, batch_first=True), pad_sequence(texts, batch_first=True)


for sounds, texts in DataLoader(samples, batch_size=8, collate_fn=together):
    time.sleep(0.05)
    lattice = sound(sounds.cuda())[:, :, None] + text(texts.cuda())[:, None]
    joint(torch.tanh(lattice)).logsumexp(-1).mean().backward()  # runs out
    optimizer.step()
    optimizer.zero_grad()
