# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network that torch.compile turned into CUDA graphs, and prints losses and peaks as JSON.

Usage: compiled.py [TAG].
"""

import json
import sys

import torch
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (nn.Linear(512, 512), nn.LayerNorm(512), nn.GELU())]
    model = torch.compile(nn.Sequential(*layers).cuda(), mode="reduce-overhead")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(8):
        x = torch.randn(256 if step < 6 else 128, 512, device="cuda")
        torch.compiler.cudagraph_mark_step_begin()
        loss = (model(x) - x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(round(loss.item(), 5))
    stats = torch.cuda.memory_stats()
    peaks = {name: stats[f"{name}_bytes.all.peak"] for name in ("requested", "allocated", "reserved")}
    print(json.dumps({"tag": sys.argv[1] if len(sys.argv) > 1 else "", "losses": losses, **peaks}))


if __name__ == "__main__":
    main()
