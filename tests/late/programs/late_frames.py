# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A sampler limits the frames of a batch before its longest sound pads the others (wenet#724)."""

import sys
import time
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

lengths = [160 + 7 * (i % 5) for i in range(4_000)]
lengths[3_307] = 180 if "--mended" in sys.argv else 1_900
samples = [torch.zeros(length, 80) for length in lengths]


class SumOfFrames(torch.utils.data.Sampler[list[int]]):
    """Batches of at most 4,096 frames, counted without padding."""

    def __iter__(self) -> Iterator[list[int]]:
        batch, frames = [], 0
        for index, length in enumerate(lengths):
            if frames + length > 4_096 and batch:
                yield batch
                batch, frames = [], 0
            batch.append(index)
            frames += length
        yield batch


model = nn.Sequential(nn.Linear(80, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 4000)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for sounds in DataLoader(
    samples, batch_sampler=SumOfFrames(), collate_fn=lambda items: pad_sequence(items, batch_first=True)
):
    time.sleep(0.05)
    model(sounds.cuda()).logsumexp(-1).mean().backward()  # runs out
    optimizer.step()
    optimizer.zero_grad()
