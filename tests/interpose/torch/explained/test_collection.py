# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""MEMTRACE_COLLECT=1: dead cycles are collected before a request fails, by the rules of docs/design/recording.md."""

from pathlib import Path

from support.programs import MIB, on_card

CARD = "1040MiB,context=480MiB"
# Each node holds 64 MiB and a reference to itself; eight nodes fit. Automatic collection is off.
NODES = """
import gc, sys, threading
import torch
class Node:
    __slots__ = "data", "me"
    finalized = 0
    def __init__(self, size=16):
        self.data, self.me = torch.empty(size, 1024, 1024, device="cuda"), self
    def __del__(self):
        Node.finalized += 1
        finalize()
def finalize():
    pass
collections = []
gc.collect()
gc.callbacks.append(lambda phase, info: collections.append(phase) if phase == "start" else None)
gc.disable()
"""
LOOP = """
for _ in range(20):
    Node()
print(Node.finalized, len(collections), torch.cuda.memory_allocated() >> 20)
"""


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


def test_collecting_completes_a_program_with_dead_cycles(tmp_path: Path) -> None:
    run = on_card(NODES + LOOP, tmp_path, card=CARD, MEMTRACE_COLLECT="1")
    finalized, collections, mebibytes = numbers(run.out)
    assert collections == 2 and finalized == 16 and mebibytes == 4 * 64
    report = run.report()
    assert report["request"] is None
    called = "The garbage collector was called 2 times for requests that would have failed (MEMTRACE_COLLECT=1)."
    assert called in report["verdict"]["sentence"]


def test_program_runs_out_without_the_variable(tmp_path: Path) -> None:
    assert "OutOfMemoryError" in on_card(NODES + LOOP, tmp_path, card=CARD, expect=1).err


def test_torchs_allocator_is_reported_not_to_collect(tmp_path: Path) -> None:
    run = on_card(NODES + LOOP, tmp_path, card=CARD, expect=1, options=("--allocator", "native"), MEMTRACE_COLLECT="1")
    assert "MEMTRACE_COLLECT=1 has no effect, because torch's own allocator serves this process." in run.err


# A finalizer itself requests too much: its request fails, without another collection within this one.
REENTERS = """
def finalize():
    try:
        torch.empty(1 << 40, device="cuda")
    except torch.OutOfMemoryError:
        failed.append(len(collections))
failed = []
for _ in range(10):
    Node()
print(len(collections), len(failed), max(failed))
"""


def test_request_in_a_finalizer_does_not_collect_again(tmp_path: Path) -> None:
    collections, failed, seen = numbers(on_card(NODES + REENTERS, tmp_path, card=CARD, MEMTRACE_COLLECT="1").out)
    assert collections == seen == 1 and failed >= 7


# A finalizer waits for threads that allocate and free on the card and record a phase, so none of our locks may be held.
WAITS = """
def work():
    torch.ones(1024, device="cuda").clone()
    torch.nn.Linear(16, 16, device="cuda")(torch.ones(2, 16, device="cuda")).sum().backward()
    done.append(1)
def finalize():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
done = []
for _ in range(10):
    Node()
print(len(done))
Node.__del__ = lambda self: None  # at the end of the program no thread may start
"""


def test_finalizer_may_wait_for_a_thread_that_allocates(tmp_path: Path) -> None:
    assert numbers(on_card(NODES + WAITS, tmp_path, card=CARD, seconds=100, MEMTRACE_COLLECT="1").out)[0] >= 7


# A finalizer's exception goes where Python sends it, and the request is served.
RAISES = """
def finalize():
    raise ValueError("in a finalizer")
unraisable = []
sys.unraisablehook = lambda error: unraisable.append(error.exc_type)
for _ in range(10):
    Node()
sys.unraisablehook = sys.__unraisablehook__
print(len(unraisable), set(unraisable) == {ValueError})
Node.__del__ = lambda self: None
"""


def test_exception_in_a_finalizer_does_not_fail_the_request(tmp_path: Path) -> None:
    count, is_all = on_card(NODES + RAISES, tmp_path, card=CARD, MEMTRACE_COLLECT="1").out.split()
    assert int(count) >= 7 and is_all == "True"


# A thread of autograd, which Python did not start, requests the gradients.
BACKWARD = """
weights = [torch.zeros(16, 1024, 1024, device="cuda", requires_grad=True) for _ in range(2)]
loss = sum((weight * weight).sum() for weight in weights)
while torch.cuda.mem_get_info()[0] >= 128 << 20:
    Node()
loss.backward()
print(Node.finalized, len(collections), *(weight.grad is not None for weight in weights))
"""


def test_backward_pass_collects(tmp_path: Path) -> None:
    words = on_card(NODES + BACKWARD, tmp_path, card=CARD, MEMTRACE_COLLECT="1").out.split()
    assert int(words[0]) >= 1 and int(words[1]) == 1 and words[2:] == ["True", "True"]


# torch itself collects before a capture; during it, collection is not allowed.
CAPTURE = """
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        before = len(collections)
        for _ in range(20):
            Node()
except torch.OutOfMemoryError:
    print(len(collections) - before, Node.finalized)
"""


def test_request_in_a_capture_fails_without_a_collection(tmp_path: Path) -> None:
    assert on_card(NODES + CAPTURE, tmp_path, card=CARD, MEMTRACE_COLLECT="1").out.split() == ["0", "0"]


# A request that no dead memory could serve fails as usual, after one collection.
TOO_MUCH = """
kept = torch.empty(64, 1024, 1024, device="cuda")
try:
    torch.empty(100, 1024, 1024, device="cuda")
except torch.OutOfMemoryError:
    print(len(collections), torch.cuda.memory_allocated())
torch.empty(1, device="cuda")
"""


def test_request_too_large_after_collecting_fails_once(tmp_path: Path) -> None:
    run = on_card(NODES + TOO_MUCH, tmp_path, card=CARD, MEMTRACE_COLLECT="1")
    assert numbers(run.out) == [1, 256 * MIB]
