# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains beside a teacher and a table that only the first step uses, and a cache that every step writes in place.

Only the cache has a movable tag. A later step needs more than the card has left. With the argument "graph" a further
model is only in a captured graph, which each step replays; a simulated card forgets what replays may have overwritten.
Prints a JSON line.
"""

import json
import sys

import memtrace
import torch

WIDTH = 4096  # 64 MiB for each layer's parameters
MIB = 1 << 20
STEPS, FULL_STEP = 6, 5


def linear():
    return torch.nn.Linear(WIDTH, WIDTH, bias=False, device="cuda")


def main() -> None:
    torch.zeros(1, device="cuda")  # memtrace's allocator serves the process from here on
    known = torch.arange(WIDTH * WIDTH, dtype=torch.float32).view(WIDTH, WIDTH)
    teacher = torch.nn.Sequential(linear(), linear()).requires_grad_(False)
    with torch.no_grad():
        teacher[0].weight.copy_(known)
    table = known.cuda()
    with memtrace.tag("cache", movable=True):
        cache = torch.zeros(256 * MIB, dtype=torch.uint8, device="cuda").view(torch.float32).view(4, WIDTH, WIDTH)
    model = torch.nn.Sequential(linear(), linear())
    has_graph = sys.argv[1:] == ["graph"]
    scratch_mib = 768 if has_graph else 672  # some 320, or 160, more than the card has left
    captured = linear() if has_graph else None
    graph, graph_input = torch.cuda.CUDAGraph(), torch.zeros(16, WIDTH, device="cuda")
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    kept = {"teacher": teacher[0].weight, "table": table, "cache": cache}
    addresses = {name: tensor.data_ptr() for name, tensor in kept.items()}

    def train(step):
        x = torch.zeros(16, WIDTH, device="cuda")
        if step == 1:
            x = x + teacher(x) + table[:16]
        if step == 1 and captured is not None:
            with torch.no_grad(), torch.cuda.graph(graph):
                captured(graph_input)
        if captured is not None:
            graph.replay()
        for page in cache:
            page.copy_(known)
        teacher.state_dict()  # looks at the teacher and computes nothing from it
        scratch = torch.empty(scratch_mib * MIB if step == FULL_STEP else 0, dtype=torch.uint8, device="cuda")
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return scratch.nbytes

    for step in range(1, STEPS + 1):
        memtrace.step()
        train(step)
    told = {
        "same addresses": {name: tensor.data_ptr() for name, tensor in kept.items()} == addresses,
        "same contents": all(
            torch.equal(tensor.detach().cpu(), known) for tensor in (teacher[0].weight, table, *cache.unbind())
        ),
        "ooms": torch.cuda.memory_stats()["num_ooms"],
    }
    print(json.dumps(told))


main()
