# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Forks trainings before CUDA is used and kills each at a random instant: killed_trainings.py HOW_MANY SEED PAIRS.

Each begins with PAIRS allocations and frees.

Prints a JSON list of the processes: their numbers, and the steps that each is known to have finished.
"""

import json
import mmap
import os
import random
import signal
import struct
import sys
import time

import torch


def train(steps: mmap.mmap, pairs: int) -> None:
    """Trains until it is killed, or for a minute; writes the number of finished steps to the shared page."""
    signal.alarm(60)
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(4))).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(pairs):
        torch.empty(512, device="cuda")
    number = 0
    while True:
        model(torch.randn(16, 64, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        number += 1
        steps[:8] = struct.pack("<Q", number)


def main() -> None:
    count, chance = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    killed = []
    for _ in range(count):
        steps = mmap.mmap(-1, mmap.PAGESIZE)
        child = os.fork()
        if child == 0:
            train(steps, int(sys.argv[3]))
        while struct.unpack("<Q", steps[:8])[0] == 0 and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.001)
        time.sleep(chance.random() / 2)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        killed.append({"process": child, "steps": struct.unpack("<Q", steps[:8])[0]})
    print(json.dumps(killed))


if __name__ == "__main__":
    main()
