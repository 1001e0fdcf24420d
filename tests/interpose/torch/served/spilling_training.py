# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains with AdamW (foreach) on a card that is too small for the optimizer step, then needs less."""

import json

import memtrace
import torch

LAYERS, WIDTH = 8, 4096  # 64 MiB for each layer's parameters
STEPS = 3


def main() -> None:
    pressures: list[memtrace.Pressure] = []
    torch.zeros(1, device="cuda")  # memtrace's allocator serves the process from here on
    memtrace.on_pressure(pressures.append)
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(LAYERS)))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    first = model[0].weight
    optimizer.state[first] = {
        "step": torch.tensor(0.0),
        "exp_avg": torch.arange(WIDTH * WIDTH, dtype=torch.float32).view(WIDTH, WIDTH).cuda(),
        "exp_avg_sq": torch.zeros_like(first),
    }
    known = optimizer.state[first]["exp_avg"]
    addresses = known.data_ptr()
    for _ in range(STEPS):
        model(torch.zeros(16, WIDTH, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    told = {
        "pressures": [pressure._asdict() for pressure in pressures],
        "same address": known.data_ptr() == addresses,
        "memory_reserved": torch.cuda.memory_reserved(),
        "ooms": torch.cuda.memory_stats()["num_ooms"],
    }
    torch.cuda.empty_cache()
    for _ in range(12):  # steps that need little
        torch.zeros(16, device="cuda")
        memtrace.step()
    print(json.dumps(told))


main()
