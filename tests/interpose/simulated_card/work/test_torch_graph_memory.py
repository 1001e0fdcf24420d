# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch's cudaMallocAsync backend captures a training step: its allocations become nodes of the graph."""

from support.programs import on_card

CAPTURES_A_STEP = """
import ctypes
import json
import torch

RESERVED = 2  # cudaGraphMemAttrReservedMemCurrent

def reserved_by_graphs():
    value = ctypes.c_uint64()
    assert ctypes.CDLL("libcudart.so.13").cudaDeviceGetGraphMemAttribute(0, RESERVED, ctypes.byref(value)) == 0
    return value.value

def used():
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free

net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batch = torch.randn(64, 1024, device="cuda")

def step():
    net(batch).sum().backward()
    optimizer.step()

side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        step()
torch.cuda.current_stream().wait_stream(side)
optimizer.zero_grad(set_to_none=True)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
before = used()
captured = reserved_by_graphs()
launches = []
for _ in range(3):
    graph.replay()
    launches.append((used() - before, reserved_by_graphs()))
print(json.dumps({"backend": torch.cuda.memory.get_allocator_backend(), "captured": captured, "launches": launches}))
"""


def test_captured_step_is_charged_once_for_all_launches(tmp_path):
    run = on_card(
        CAPTURES_A_STEP,
        tmp_path,
        card="8GiB",
        options=("--allocator", "native"),
        PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync",
    )
    facts = run.printed()
    assert facts["backend"] == "cudaMallocAsync"
    assert facts["captured"] == 0
    charged, reserved = facts["launches"][0]
    # The gradients, which the graph leaves, and the other memory that it needs at a time.
    gradients = 4 * (1024 * 4096 + 4096 + 4096 * 1024 + 1024)
    assert charged == reserved >= gradients
    assert facts["launches"] == [[charged, reserved]] * 3
