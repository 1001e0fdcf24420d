# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a model under a tag has its owner, whichever thread allocates it."""

from pathlib import Path

import pytest
from support.events import blocks, bytes_by
from support.programs import memtrace, on_card

TRAINING = Path(__file__).with_name("owned_training.py")


@pytest.mark.parametrize(
    ("kind", "allocator"),
    [
        ("plain", "memtrace"),
        ("reentrant", "memtrace"),
        ("other", "memtrace"),
        ("graph", "memtrace"),
        ("other", "native"),
    ],
)
def test_forward_recompute_and_backward_memory_has_the_models_owner(kind, allocator, tmp_path):
    run = on_card(TRAINING, tmp_path, kind, options=("--allocator", allocator))
    born = blocks(run.trace)
    passes = [block for block in born if block.phase in ("forward", "recompute", "backward")]
    phases = {block.phase for block in passes}
    assert phases == {"forward", "backward"} | ({"recompute"} if kind in ("reentrant", "other") else set())
    others = [block for block in passes if block.owner != "policy"]
    assert not others, bytes_by(others, "owner", "module", "phase", "role", "bytes")
    gradients = [block for block in born if block.role == "gradient"]
    assert gradients
    assert all(block.final_owner == "policy" for block in gradients)
    nameless = [block for block in passes if block.phase == "recompute" and not block.module]
    assert not nameless, bytes_by(nameless, "phase", "bytes")


def test_threads_and_tasks_inherit_tags(tmp_path):
    script = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
import memtrace, torch

kept = []
make = lambda mib: kept.append(torch.empty(mib << 20, dtype=torch.uint8, device="cuda"))

def in_thread(mib):
    thread = threading.Thread(target=make, args=(mib,))
    thread.start()
    thread.join()

with memtrace.tag("early"):
    in_thread(1)  # CUDA is not in use yet
in_thread(2)
with memtrace.tag("outer"), ThreadPoolExecutor(1) as pool:
    with memtrace.tag("first"):
        pool.submit(make, 4).result()
    pool.submit(make, 8).result()
    asyncio.run(asyncio.to_thread(make, 16))

class Worker(threading.Thread):
    def run(self):
        make(32)
        with memtrace.tag("inner"):
            make(64)

with memtrace.tag("outer"):
    worker = Worker()
    worker.start()
    worker.join()
model = torch.nn.Linear(4, 4, device="cuda")
x = torch.zeros(1 << 18, 4, device="cuda")

def forward():
    kept.append(model(x).sum())

with memtrace.tag("model"):
    thread = threading.Thread(target=forward)
    thread.start()
    thread.join()
del kept[:-1]
kept[0].backward()
"""
    born = blocks(on_card(script, tmp_path).trace)
    expected = {1: "early", 2: "", 4: "outer/first", 8: "outer", 16: "outer", 32: "outer", 64: "outer/inner"}
    assert {block.bytes >> 20: block.owner for block in born if block.phase == "init"} == expected | {0: "", 4: ""}
    backward = [block for block in born if block.phase == "backward"]
    assert backward
    assert {block.owner for block in backward} == {"model"}


def test_custom_function_and_hooks_have_the_scope_of_their_forward(tmp_path):
    script = """
import memtrace, torch

def make(mib):
    torch.empty(mib << 20, dtype=torch.uint8, device="cuda")

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        make(3)
        return gradient * 2

weight = torch.ones(1 << 10, device="cuda", requires_grad=True)
with memtrace.tag("policy"):
    y = Doubled.apply(weight)
    y.register_hook(lambda _: make(5))
weight.register_post_accumulate_grad_hook(lambda _: make(7))
with memtrace.tag("critic"):
    loss = (y * 3).sum()
loss.backward()
"""
    born = blocks(on_card(script, tmp_path).trace)
    owners = {block.bytes >> 20: block.owner for block in born if block.bytes >> 20}
    assert owners == {3: "policy", 5: "policy", 7: "policy"}


def test_gradients_and_states_have_the_tag_of_their_model(tmp_path):
    script = """
import memtrace, torch

with memtrace.tag("policy"):
    model = torch.nn.Linear(256, 256, bias=False, device="cuda")
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
model.weight.sum().backward()
optimizer.step()
"""
    born = blocks(on_card(script, tmp_path).trace)
    kept = [block for block in born if block.role in ("gradient", "optimizer_state") and block.bytes > 4]
    assert [(block.role, block.final_owner) for block in kept] == [
        ("gradient", "policy"),
        ("optimizer_state", "policy"),
        ("optimizer_state", "policy"),
    ]


def test_parameter_and_gradient_keep_their_roles_after_a_swap(tmp_path):
    script = """
model = torch.nn.Linear(512, 512, bias=False, device="cuda")
model(torch.zeros(1, 512, device="cuda")).sum().backward()
model.weight.grad = None
other = torch.nn.Parameter(torch.zeros(512, 512, device="cuda", dtype=torch.half))
torch.utils.swap_tensors(model.weight, other)
del other
model(torch.zeros(1, 512, device="cuda", dtype=torch.half)).sum().backward()
"""
    born = blocks(on_card("import torch\n" + script, tmp_path).trace)
    roles = [(block.role, block.bytes >> 10) for block in born if block.role in ("parameter", "gradient")]
    assert roles == [("parameter", 1024), ("gradient", 1024), ("parameter", 512), ("gradient", 512)]


COPIED = """
import copy, torch
from torch import nn
model = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(4)]).cuda()
x = torch.ones(4, 1024, device="cuda")
model(x)
reference = copy.deepcopy(model)
reference(x)
parts = [nn.Linear(512, 512, bias=False, device="cuda") for _ in range(8)]
for part in parts:
    part(x[:, :512])
torch.empty(1 << 40, device="cuda")
"""


def test_two_models_have_separate_rows_and_loose_parts_share_one(tmp_path):
    report = on_card(COPIED, tmp_path, expect=1).report()
    rows = [row for row in report["holdings"] if row["role"] == "parameter"]
    found = [(row["site"], row["model"], row["line"], row["bytes"]) for row in rows]
    mebibyte = 1 << 20
    assert sorted(found) == [
        ("[*]", 1, "train.py:4", 16 * mebibyte),
        ("[*]", 2, "train.py:7", 16 * mebibyte),
        ("weight", 1, "train.py:9", 8 * mebibyte),
    ]


TAGGED = """
import torch
from torch import nn

import memtrace

def build():
    return nn.Sequential(nn.Linear(2048, 2048, bias=False), nn.Linear(2048, 2048, bias=False)).cuda()

with memtrace.tag("base_model"):
    base = build()
with memtrace.tag("edited_model"):
    edited = build()
again = build()
torch.empty(1 << 40, device="cuda")
"""


def test_holders_are_listed_by_owner_if_tagged(tmp_path):
    finished = on_card(TAGGED, tmp_path, expect=1)
    rows = [row for row in finished.report()["holdings"] if row["role"] == "parameter"]
    assert sorted((row["owner"] or "", row["site"], row["model"], row["bytes"]) for row in rows) == [
        ("", "[*]", 1, 32 << 20),
        ("base_model", "[*]", 1, 32 << 20),
        ("edited_model", "[*]", 1, 32 << 20),
    ]
    told = memtrace("report", "--verbose", str(finished.trace)).out
    assert "[*] (base_model)" in told
    assert "[*] (edited_model)" in told
