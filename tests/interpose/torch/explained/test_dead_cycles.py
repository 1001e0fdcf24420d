# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Memory held by dead reference cycles, in traces of real programs; the cure is tested."""

from pathlib import Path

import pytest
from support.programs import MIB, on_card

CARD = "1000MiB,context=480MiB"
# Each node holds 64 MiB and a reference to itself; seven of them fit, with our allocator eight.
CYCLES = """
import gc, sys
import torch
class Node:
    finalized = 0
    def __init__(self, data):
        self.data, self.me = data, self
    def __del__(self):
        Node.finalized += 1
weights = torch.zeros(1024, 1024, device="cuda")
alive = Node(weights)
gc.disable()
try:
    for i in range(20):
        Node(torch.empty(16, 1024, 1024, device="cuda"))
        if "collect" in sys.argv:
            gc.collect()
finally:
    print(i, Node.finalized, gc.isenabled())
"""
SENTENCE = "{}.0 MiB is unreachable ({} blocks): objects in reference cycles hold it"


@pytest.mark.parametrize("allocator", ["memtrace", "native"])
def test_dead_cycles_are_named_and_collecting_them_fits(tmp_path: Path, allocator: str) -> None:
    options = ("--allocator", allocator)
    failed = on_card(CYCLES, tmp_path, card=CARD, expect=1, options=options)
    dead, finalized, is_collecting = failed.out.split()
    assert (finalized, is_collecting) == ("0", "False")
    report = failed.report()
    assert report["dead_cycles"] == {
        "bytes": int(dead) * 64 * MIB,
        "blocks": int(dead),
        "made_at": "train.py:15",
        "is_all_that_grows": True,
    }
    assert SENTENCE.format(64 * int(dead), dead) in report["verdict"]["sentence"]
    assert "It was allocated by train.py:15." in report["verdict"]["sentence"]
    first = report["remedies"][0]
    assert first["name"] == "gc.collect()" and not first["at_least"]
    assert first["predicted_peak"] <= report["card"]["bytes"]
    on_card(CYCLES, tmp_path, "collect", card=CARD, options=options)


# The other growth is no cycle, so collecting is not enough.
TWO_KINDS = """
import torch
class Node:
    def __init__(self, data):
        self.data, self.me = data, self
kept = []
for i in range(100):
    Node(torch.empty(4, 1024, 1024, device="cuda"))
    kept.append(torch.empty(4, 1024, 1024, device="cuda"))
"""


def test_collecting_is_not_a_full_remedy_beside_other_growth(tmp_path: Path) -> None:
    report = on_card(TWO_KINDS, tmp_path, card=CARD, expect=1).report()
    assert not report["dead_cycles"]["is_all_that_grows"]
    collect = next(row for row in report["remedies"] if row["name"] == "gc.collect()")
    assert collect["at_least"]


# A tensor that C++ also holds (saved for a backward pass) and one that lives in a frame do not die.
ALIVE = """
import torch
class Node:
    def __init__(self, data):
        self.data, self.me = data, self
def run():
    local = torch.empty(4, 1024, 1024, device="cuda")
    weight = torch.zeros(1, device="cuda", requires_grad=True)
    saved = torch.ones(4, 1024, 1024, device="cuda")
    Node(saved)
    product = weight * saved
    del saved
    torch.empty(1 << 40, device="cuda")
    print(local, product)
run()
"""


def test_memory_held_by_a_frame_or_autograd_is_not_dead(tmp_path: Path) -> None:
    report = on_card(ALIVE, tmp_path, card=CARD, expect=1).report()
    assert "dead_cycles" not in report


# Any call of the program's code during the inspection ends the program with status 9.
HOSTILE = """
import gc, os, threading
import torch
class Part(torch.Tensor):
    @property
    def grad(self): os._exit(9)
    @property
    def _base(self): os._exit(9)
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): os._exit(9)
class Node:
    def __init__(self, data):
        object.__setattr__(self, "parts", [data, self])
    def _called(self, *args): os._exit(9)
    __eq__ = __hash__ = __repr__ = __getattr__ = __getattribute__ = __setattr__ = __bool__ = __len__ = __del__ = _called
    __class__ = property(_called)
gc.disable()
def make():
    with torch._C.DisableTorchFunctionSubclass():
        Node(torch.empty(16, 1024, 1024, device="cuda").as_subclass(Part))
make()
waiting = threading.Event()
thread = threading.Thread(target=waiting.wait, daemon=True)
thread.start()
before = torch.cuda.memory_allocated()
for _ in range(2):
    try:
        torch.empty(1 << 40, device="cuda")
    except torch.OutOfMemoryError:
        pass
# The search for cycles has released what it found.
del Node.__del__
gc.collect()
print(before - torch.cuda.memory_allocated())
waiting.set()
thread.join()
torch.empty(1 << 40, device="cuda")
"""


def test_search_runs_no_user_code_and_keeps_nothing_alive(tmp_path: Path) -> None:
    # In a fork, each object that is counted costs a copy of its page, and the look may take too long.
    run = on_card(HOSTILE, tmp_path, card=CARD, expect=1, warm=False)
    assert int(run.out) == 64 * MIB
    assert run.report("--oom", "2")["dead_cycles"]["bytes"] == 64 * MIB
    assert "dead_cycles" not in run.report()
