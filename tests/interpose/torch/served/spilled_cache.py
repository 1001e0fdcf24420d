# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains beside a cache under a movable tag that belongs to no model, on a card that the training fills.

The first argument is "training" (the optimizer step fills the card), or "evaluating" (a call of the model without
gradients does). Prints a JSON line.
"""

import json
import sys

import memtrace
import torch

LAYERS, WIDTH = 8, 4096  # 64 MiB for each layer's parameters
MIB = 1 << 20
PIECE = 16 * MIB  # elements; the card keeps what copies of at most 64 MiB wrote


class Model(torch.nn.Module):
    """A model whose forward needs as much temporary memory as it is told."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
        self.scratch_mib = 0

    def forward(self, x):
        scratch = torch.empty(self.scratch_mib * MIB, dtype=torch.uint8, device="cuda")
        return self.layers(x), scratch.nbytes


def main() -> None:
    torch.zeros(1, device="cuda")  # memtrace's allocator serves the process from here on
    is_training = sys.argv[1] == "training"
    with memtrace.tag("cache", movable=True):
        cache = torch.zeros(512 * MIB, dtype=torch.uint8, device="cuda")
    known = torch.arange(PIECE, dtype=torch.float32)
    for piece in cache.view(torch.float32).split(PIECE):
        piece.copy_(known)
    address = cache.data_ptr()
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=is_training, fused=not is_training)
    for _ in range(2):
        model(torch.zeros(16, WIDTH, device="cuda"))[0].sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    if not is_training:
        model.eval()
        model.scratch_mib = 1000
        with torch.no_grad():
            model(torch.zeros(16, WIDTH, device="cuda"))
    told = {
        "same address": cache.data_ptr() == address,
        "same contents": all(torch.equal(piece.cpu(), known) for piece in cache.view(torch.float32).split(PIECE)),
        "ooms": torch.cuda.memory_stats()["num_ooms"],
    }
    print(json.dumps(told))


main()
