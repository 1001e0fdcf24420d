# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Doubles the batch of a small GPT-2's training until the card is full, and prints torch's message as JSON.

Usage: fill_up.py [--raise]. With --raise the out-of-memory error ends the program, as it does for users.
"""

import json
import sys

import torch
import torch.nn.functional as F
from train import VOCABULARY, Gpt


def main() -> None:
    with torch.device("cuda"):
        model = Gpt().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = 4
    while batch < 1 << 14:
        ids = torch.zeros(batch, 1024, dtype=torch.long, device="cuda")
        try:
            F.cross_entropy(model(ids).view(-1, VOCABULARY), ids.view(-1)).backward()
        except torch.OutOfMemoryError as error:
            if "--raise" in sys.argv:
                raise
            print(json.dumps({"batch": batch, "text": str(error), "peak": torch.cuda.max_memory_allocated()}))
            return
        optimizer.step()
        optimizer.zero_grad()
        batch *= 2


if __name__ == "__main__":
    main()
