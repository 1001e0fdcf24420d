# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Native frames of torch's allocations, recorded on request, beside those of Python."""

import pytest
from support.events import blocks
from support.programs import on_card

TRAINING = """
import torch

def make(size):
    return torch.zeros(size, size, device="cuda")

model = torch.nn.Linear(512, 512).cuda()
model(make(512)).relu().sum().backward()
make(100_000)
"""


@pytest.fixture(params=["memtrace", "native"])
def allocator(request):
    return ("--allocator", request.param)


def frames(block):
    return block.stack.split(";")


def test_native_frames_come_before_the_innermost_python_frame(tmp_path, allocator):
    finished = on_card(TRAINING, tmp_path, options=("--native-stacks", *allocator), expect=1)
    made = next(block for block in blocks(finished.trace) if "make@" in block.stack)
    names = [frame.split("@")[0] for frame in frames(made)]
    first = next(i for i, frame in enumerate(frames(made)) if ".py:" in frame)
    assert names[first] == "make"
    assert any(name.startswith("at::native::zeros") for name in names[:first])
    assert all("+0x" in frame for frame in frames(made)[:first])
    assert all(".py:" in frame for frame in frames(made)[first:])
    files = {frame.split("@")[-1].split("+0x")[0].rsplit("/")[-1] for frame in frames(made)[:first]}
    assert not any(file.startswith(("libmemtrace", "python3")) for file in files), files


def test_autograd_thread_has_only_native_frames(tmp_path, allocator):
    finished = on_card(TRAINING, tmp_path, options=("--native-stacks", *allocator), expect=1)
    made = next(b for b in blocks(finished.trace) if "AddmmBackward0" in b.stack)
    assert ".py:" not in made.stack
    assert any(frame.startswith("at::_ops::mm::") for frame in frames(made))


def test_report_shows_native_frames_and_the_users_line(tmp_path):
    finished = on_card(TRAINING, tmp_path, options=("--native-stacks",), expect=1)
    request = finished.report()["request"]
    assert request["site"] == "train.py:5"
    assert any(frame["function"].startswith("at::_ops::zeros::call(") for frame in request["stack"])
    # The name is not exported; it comes from the symbols of the file, whose build-id is in the trace.
    assert any("c10::impl::wrap_kernel_functor_unboxed_" in frame["function"] for frame in request["stack"])


def test_native_frames_are_off_by_default(tmp_path, allocator):
    finished = on_card(TRAINING, tmp_path, options=allocator, expect=1)
    assert not any("+0x" in block.stack for block in blocks(finished.trace))
