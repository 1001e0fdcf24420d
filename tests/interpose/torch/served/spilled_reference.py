# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a policy beside a reference under a movable tag, on a card that the optimizer step fills. Prints a JSON line.

The first argument says how the reference is kept from training: "frozen" (no gradients), or "no_grad" (gradients on,
called without).
"""

import json
import sys

import memtrace
import torch

LAYERS, WIDTH = 8, 4096  # 64 MiB for each layer's parameters, in both models
MIB = 1 << 20


class Reference(torch.nn.Module):
    """A model whose forward needs as much temporary memory as it is told."""

    def __init__(self, known):
        super().__init__()
        self.layers = torch.nn.Sequential(*(linear() for _ in range(LAYERS)))
        with torch.no_grad():
            self.layers[0].weight.copy_(known)
        self.scratch_mib = 0

    def forward(self, x):
        scratch = torch.empty(self.scratch_mib * MIB, dtype=torch.uint8, device="cuda")
        return self.layers(x), scratch.nbytes


def linear():
    return torch.nn.Linear(WIDTH, WIDTH, bias=False, device="cuda")


def main() -> None:
    pressures: list[memtrace.Pressure] = []
    torch.zeros(1, device="cuda")  # memtrace's allocator serves the process from here on
    memtrace.on_pressure(pressures.append)
    known = torch.arange(WIDTH * WIDTH, dtype=torch.float32).view(WIDTH, WIDTH)
    reference = Reference(known).eval()
    if sys.argv[1] == "frozen":
        reference.requires_grad_(False)
    memtrace.movable(reference, "reference")
    weight = reference.layers[0].weight
    address = weight.data_ptr()
    policy = torch.nn.Sequential(*(linear() for _ in range(LAYERS)))
    optimizer = torch.optim.AdamW(policy.parameters(), foreach=True)

    def look_at_reference():
        with torch.no_grad():
            reference(torch.zeros(16, WIDTH, device="cuda"))

    def state():
        same = torch.equal(weight.detach().cpu(), known)
        on_host = pressures[-1].host_bytes if pressures else 0
        return {"host_bytes": on_host, "same address": weight.data_ptr() == address, "same contents": same}

    told = {}
    for _ in range(2):  # steps 1 and 2
        look_at_reference()
        policy(torch.zeros(16, WIDTH, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    told["trained"] = state()
    slept = memtrace.sleep("reference")
    woke = memtrace.wake("reference")
    told["slept"] = {**state(), "moved": [slept.card_bytes, slept.host_bytes, woke.card_bytes]}
    memtrace.step()  # ends step 3; from here on the program counts its steps
    policy(torch.zeros(16, WIDTH, device="cuda")).sum().backward()
    optimizer.step()  # step 4, in which the reference moves again
    optimizer.zero_grad(set_to_none=True)
    for _ in range(12):  # steps that need little: the reference comes back
        memtrace.step()
        torch.zeros(16, device="cuda")
    told["back"] = state()
    reference.scratch_mib = 900
    look_at_reference()  # step 16
    memtrace.step()
    told["in its forward"] = state()
    told["ooms"] = torch.cuda.memory_stats()["num_ooms"]
    print(json.dumps(told))


main()
