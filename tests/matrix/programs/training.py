# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Two training steps of a small model; prints the peaks as one JSON line: training.py gpt|images|mixed [WIDTH]."""

import json
import sys

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(self.between(x))


class Gpt(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tokens = nn.Embedding(5003, width)
        self.blocks = nn.Sequential(*(Block(width, 8) for _ in range(4)))
        self.head = nn.Linear(width, 5003, bias=False)

    def forward(self, tokens):
        return functional.cross_entropy(
            self.head(self.blocks(self.tokens(tokens)))[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        )


class Images(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 7, stride=2, padding=3), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(2 * width, 100),
        )  # fmt: skip

    def forward(self, images):
        return functional.cross_entropy(self.layers(images), torch.zeros(len(images), dtype=torch.long, device="cuda"))


def main():
    kind, width = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 256
    model = (Images(width // 8) if kind == "images" else Gpt(width)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if kind == "images":
        batch = torch.randn(8, 3, 128, 128, device="cuda")
    else:
        batch = torch.zeros(4, 256, dtype=torch.long, device="cuda")
    for _ in range(2):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=kind == "mixed"):
            loss = model(batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    stats = torch.cuda.memory_stats()
    print(
        json.dumps(
            {name: stats[f"{name}.all.peak"] for name in ("requested_bytes", "allocated_bytes", "reserved_bytes")}
        )
    )


main()
