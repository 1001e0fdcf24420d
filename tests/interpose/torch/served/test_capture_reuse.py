# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""graph_capture_record_stream_reuse: when a capture reuses memory that two of its streams have used, as torch does."""

import pytest
from support.programs import MIB, on_card

# The number of places that five successive tensors of 32 MiB get, and the growth of the card's memory.
PROGRAM = """
import json, sys, torch
size = 32 << 20
empty = lambda: torch.empty(size, dtype=torch.uint8, device="cuda")
torch.cuda.init()
side, other = torch.cuda.Stream(), torch.cuda.Stream()

def used_by(stream, tensor):
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        tensor.add_(1)
    tensor.record_stream(stream)

def joined(main):
    tensor = empty()
    used_by(side, tensor)
    main.wait_stream(side)
    return tensor

def joined_after_the_free(main):
    main.wait_stream(side)
    tensor = empty()
    used_by(side, tensor)
    return tensor

def not_joined(main):
    tensor = empty()
    used_by(side, tensor)
    return tensor

def joined_through_another(main):
    tensor = empty()
    used_by(side, tensor)
    other.wait_stream(side)
    main.wait_stream(other)
    return tensor

def of_the_side_stream(main):
    side.wait_stream(main)
    with torch.cuda.stream(side):
        tensor = empty()
    main.wait_stream(side)
    tensor.add_(1)
    tensor.record_stream(main)
    side.wait_stream(main)
    return tensor

def one_of_two_joined(main):
    tensor = empty()
    used_by(side, tensor)
    used_by(other, tensor)
    main.wait_stream(side)
    return tensor

answers = {}
for make in (joined, joined_after_the_free, not_joined, joined_through_another, of_the_side_stream, one_of_two_joined):
    before = torch.cuda.memory_reserved()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        other.wait_stream(main)
        addresses = {make(main).data_ptr() for _ in range(5)}
        main.wait_stream(side)
        main.wait_stream(other)
    graph.replay()
    torch.cuda.synchronize()
    answers[make.__name__] = [len(addresses), torch.cuda.memory_reserved() - before]
    del graph
    torch.cuda.empty_cache()
    assert torch.cuda.memory_stats()["active_bytes.all.current"] == 0
print(json.dumps(answers))
"""


@pytest.mark.parametrize("switched", ["True", "False"])
def test_capture_reuses_memory_when_torch_does(switched, tmp_path):
    torchs, ours = (
        on_card(
            PROGRAM,
            tmp_path,
            card="4GiB",
            options=("--allocator", allocator),
            PYTORCH_CUDA_ALLOC_CONF=f"expandable_segments:True,graph_capture_record_stream_reuse:{switched}",
        ).printed()
        for allocator in ("native", "memtrace")
    )
    places = {name: count for name, (count, _) in ours.items()}
    assert places == {name: count for name, (count, _) in torchs.items()}
    assert places["joined"] == places["of_the_side_stream"] == (1 if switched == "True" else 5)
    assert places["not_joined"] == places["one_of_two_joined"] == 5
    for name, (count, reserved) in ours.items():
        assert 0 <= reserved - count * 32 * MIB <= 2 * MIB, name  # a graph's own memory
        assert reserved <= torchs[name][1], name


SWITCHED_LATER = """
import torch
torch.cuda.init()
side = torch.cuda.Stream()

def places():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        main, seen = torch.cuda.current_stream(), set()
        for _ in range(3):
            tensor = torch.empty(4 << 20, dtype=torch.uint8, device="cuda")
            side.wait_stream(main)
            with torch.cuda.stream(side):
                tensor.add_(1)
            tensor.record_stream(side)
            main.wait_stream(side)
            seen.add(tensor.data_ptr())
            del tensor
    return len(seen)

assert places() == 3
torch._C._accelerator_setAllocatorSettings("graph_capture_record_stream_reuse:True")
assert places() == 1
"""


@pytest.mark.parametrize("allocator", ["native", "memtrace"])
def test_capture_reuse_setting_may_change_between_captures(allocator, tmp_path):
    run = on_card(SWITCHED_LATER, tmp_path, options=("--allocator", allocator))
    assert "has no effect" not in run.err
