# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A small training that a plan can be made of; prints what it reserved, a JSON object.

Usage: planned_training.py [--steps N] [--evaluate-every N] [--extra-layer] [--width N] [--layers N] [--random-batches]
"""

import argparse
import json
import random

import torch
from torch import nn


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--evaluate-every", type=int, default=0)
    parser.add_argument("--extra-layer", action="store_true")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--random-batches", action="store_true")
    options = parser.parse_args()

    torch.manual_seed(1)
    shapes = random.Random(1)
    width = options.width
    layers = []
    for _ in range(options.layers + options.extra_layer):
        layers += [nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)]
    model = nn.Sequential(*layers, nn.Linear(width, 2048)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    steps = []
    for step in range(options.steps):
        calls = torch.cuda.memory_stats()["num_device_alloc"]
        rows = shapes.randrange(512, 2048) if options.random_batches else 2048
        batch = torch.randn(rows, width, device="cuda")
        logits = model(batch)
        loss = nn.functional.cross_entropy(logits, torch.zeros(rows, dtype=torch.long, device="cuda"))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if options.evaluate_every and step % options.evaluate_every == 0:
            with torch.no_grad():
                for size in (700, 900, 1100):
                    model(torch.randn(size, width, device="cuda"))
        steps.append(torch.cuda.memory_stats()["num_device_alloc"] - calls)
    stats = torch.cuda.memory_stats()
    print(
        json.dumps(
            {
                "reserved": stats["reserved_bytes.all.peak"],
                "allocated": stats["allocated_bytes.all.peak"],
                "allocations": stats["allocation.large_pool.allocated"],
                "growths": steps,
                "sizes": [p.numel() for p in model.parameters()],
            }
        )
    )


if __name__ == "__main__":
    main()
