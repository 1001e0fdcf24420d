# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Launches that torch does not see use memory of an owner: while it is awake, asleep, and awake again.

Argument "triton": the replayed graph also has a kernel of Triton. Prints the card's faults at each point, as a line of
JSON.
"""

import ctypes
import json
import sys

import memtrace
import torch

PTX = b"""//
.version 9.0
.target sm_80
.visible .entry scale(.param .u64 .ptr .global .align 4 values, .param .u32 count)
{ ret; }
"""
card = ctypes.CDLL("libcuda.so.1")
Visitor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)


def faults():
    """Returns all faults so far."""
    said = []
    card.memtrace_card_visit_faults(Visitor(lambda _, fault, __: said.append(fault.decode())), None)
    return said


def kernel():
    """Returns the function of a kernel that the driver has loaded."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert card.cuModuleLoadData(ctypes.byref(module), PTX) == 0
    assert card.cuModuleGetFunction(ctypes.byref(function), module, b"scale") == 0
    return function


def launch(function, tensor):
    address, count = ctypes.c_uint64(tensor.data_ptr()), ctypes.c_uint32(tensor.numel())
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(address), ctypes.addressof(count))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    assert card.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, None) == 0


def with_triton():
    """Returns a function that launches a kernel of Triton with a tensor."""
    import triton
    import triton.language as tl

    @triton.jit
    def twice(pointer, n, size: tl.constexpr):
        at = tl.program_id(0) * size + tl.arange(0, size)
        tl.store(pointer + at, tl.load(pointer + at, mask=at < n) * 2, mask=at < n)

    return lambda tensor: twice[(1,)](tensor, 64, size=64)


def captured(work):
    """Returns a graph of the work."""
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


given = torch.ones(64, 1024, device="cuda")
with memtrace.tag("policy", movable=True):
    weight = torch.ones(1024, 1024, device="cuda")
if "triton" in sys.argv:
    twice = with_triton()
    graph = captured(lambda: twice(weight))
else:
    graph = captured(lambda: given @ weight)
function = kernel()
told = {}
for point in ("awake", "asleep", "awake again"):
    before = len(faults())
    launch(function, given)
    launch(function, weight)
    graph.replay()
    torch.cuda.synchronize()
    told[point] = faults()[before:]
    if point == "awake":
        memtrace.sleep("policy")
    elif point == "asleep":
        memtrace.wake("policy")
print(json.dumps(told))
