# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Captures a graph, replays it beside eager work, and drops it; prints the contents of its pool as one JSON line."""

import json

import torch

x = torch.zeros(1 << 20, device="cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    y = (x * 2 + 1).relu()
torch.cuda.current_stream().wait_stream(stream)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x * 2 + 1).relu()
for _ in range(3):
    graph.replay()
    torch.zeros(1 << 18, device="cuda")
torch.cuda.synchronize()
pool = graph.pool()
in_pool = sum(
    segment["allocated_size"]
    for segment in torch.cuda.memory_snapshot()
    if tuple(segment["segment_pool_id"]) == tuple(pool)
)
del y, graph
torch.cuda.empty_cache()
left = torch.cuda.memory_allocated()
print(json.dumps({"in_pool": in_pool, "left": left}))
