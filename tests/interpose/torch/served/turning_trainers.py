# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Two trainers of one user share a card, and their peaks do not coincide: together they need 1.4 times the card.

Started without arguments, it starts both and prints the status and the largest reserved memory of each. A trainer's
peak lies between two barriers that order it before or after the other's.
"""

import json
import subprocess
import sys

GIB = 1 << 30
STEPS = 2


def train(turn):
    import torch

    model = torch.nn.Linear(16384, 16384, device="cuda")  # 1 GiB, and its gradient
    for _ in range(STEPS):
        for turn_now in (0, 1):
            if turn_now == turn:
                activations = [torch.zeros(GIB, dtype=torch.uint8, device="cuda") for _ in range(15)]
                model(torch.zeros(8, 16384, device="cuda")).sum().backward()
                activations.clear()
            print("turn over", flush=True)
            sys.stdin.readline()
    print(torch.cuda.max_memory_reserved(), flush=True)


def lead():
    """Waits until both trainers have ended a turn, or have died, before both begin the next."""
    trainers = [
        subprocess.Popen(
            [sys.executable, __file__, str(turn)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for turn in (0, 1)
    ]
    for _ in range(2 * STEPS):
        for trainer in trainers:
            trainer.stdout.readline()
        for trainer in trainers:
            try:
                trainer.stdin.write("\n")
                trainer.stdin.flush()
            except BrokenPipeError:
                pass
    print(json.dumps([[int(trainer.stdout.readline() or 0), trainer.wait()] for trainer in trainers]))


if len(sys.argv) > 1:
    train(int(sys.argv[1]))
else:
    lead()
