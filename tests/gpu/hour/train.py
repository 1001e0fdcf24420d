# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT-2 without libraries and prints losses, peaks and the time of a step as JSON, under any allocator.

Usage: train.py [--steps 30] [--random-shapes] [--pluggable LIBRARY] [--tag NAME]. Bytes and milliseconds.
"""

import argparse
import json
import random
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS, POSITIONS = 50257, 768, 12, 12, 2048


class Block(nn.Module):
    """A layer of GPT-2."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + self.out(attended)
        result: torch.Tensor = x + self.down(F.gelu(self.up(self.norm2(x))))
        return result


class Gpt(nn.Module):
    """GPT-2 of 124 M parameters, embeddings not tied."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        result: torch.Tensor = self.head(self.norm(self.blocks(x)))
        return result


def use_library(path: str) -> None:
    allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "memtrace_malloc", "memtrace_free")
    torch.cuda.memory.change_current_allocator(allocator)


def peaks() -> dict[str, int]:
    try:
        stats = torch.cuda.memory_stats()
    except RuntimeError:  # a pluggable allocator has none
        return {}
    names = {"peak": "allocated_bytes", "requested": "requested_bytes", "reserved": "reserved_bytes"}
    return {short: int(stats.get(f"{name}.all.peak", 0)) for short, name in names.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--random-shapes", action="store_true")
    parser.add_argument("--pluggable")
    parser.add_argument("--tag", default="")
    options = parser.parse_args()
    if options.pluggable:
        use_library(options.pluggable)
    torch.manual_seed(0)
    random.seed(1)
    with torch.device("cuda"):
        model = Gpt().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses, times = [], []
    for _ in range(options.steps):
        shape = (random.randrange(1, 9), random.randrange(128, 2048)) if options.random_shapes else (8, 1024)
        ids = torch.randint(0, VOCABULARY, shape, device="cuda")
        started = time.perf_counter()
        loss = F.cross_entropy(model(ids).view(-1, VOCABULARY), ids.view(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        times.append((time.perf_counter() - started) * 1e3)
    print(
        json.dumps(
            {
                "tag": options.tag,
                **peaks(),
                "losses": [round(loss, 5) for loss in losses],
                "step_ms": round(statistics.median(times[3:] or times), 3),
            }
        )
    )


if __name__ == "__main__":
    main()
