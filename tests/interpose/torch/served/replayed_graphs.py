# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Training steps in captured graphs: two share a pool and one is destroyed. Prints torch's statistics."""

import json

import torch

MIB = 1 << 20


def allocate() -> list[torch.Tensor]:
    return [torch.empty(size, dtype=torch.uint8, device="cuda") for size in (100, 4 * MIB, 16 * MIB, 300)]


def main() -> None:
    model = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(4))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.randn(64, 512, device="cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        model(batch).sum().backward()
        optimizer.step()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graphs: list[torch.cuda.CUDAGraph] = []
    kept = []
    for number in range(3):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=graphs[0].pool() if number == 1 else None):
            step()
            kept.append(allocate()[number])
        graphs.append(graph)
        graph.replay()
        allocate()
    del graphs[1:], kept[1:]
    torch.cuda.empty_cache()
    kept += allocate()
    stats = torch.cuda.memory_stats()
    peaks = {
        name: stats[f"{name.removeprefix('peak_')}_bytes.all.peak"] for name in ("peak_reserved", "peak_allocated")
    }
    print(json.dumps([peaks]))


if __name__ == "__main__":
    main()
