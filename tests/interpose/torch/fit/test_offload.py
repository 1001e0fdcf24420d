# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models that wait in host memory compute what they compute without `--with offload`, whatever the program does.

The weights are small enough for host values, so the simulated card computes the true outputs from its own memory.
"""

from pathlib import Path

import pytest
from support.events import annotations
from support.fit_changes import changed
from support.programs import Finished, on_card

# Ten weights of 128 KiB, of which two are tied. The twin on the host is treated like the model on the card.
MODELS = """
import copy, gc, json, threading, torch
from torch import nn
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self, cache=False):
        super().__init__()
        sizes = [128, 256] * 6
        self.layers = nn.ModuleList([nn.Linear(a, b, bias=False) for a, b in zip(sizes, sizes[1:])])
        self.layers[4].weight = self.layers[2].weight
        if cache:
            self.register_buffer("cache", torch.zeros(256, 128))
        self.inside = lambda: None
    def forward(self, x):
        self.inside()
        for layer in self.layers:
            x = layer(x).tanh() * 4
        return x + self.cache.mean() if hasattr(self, "cache") else x
def pair(cache=False):
    twin = Model(cache).requires_grad_(False)
    return copy.deepcopy(twin).cuda(), twin
said = {"outputs": [], "held": []}
x = torch.rand(2, 128)
torch.ones(4, 4, device="cuda") @ torch.ones(4, 4, device="cuda")  # takes cuBLAS' workspace
before = torch.cuda.memory_allocated()
def held():
    return torch.cuda.memory_allocated() - before
def at_home(model):
    return sum(type(p) is nn.Parameter for p in model.parameters())  # reads no memory
def check(model, twin):
    y = model(x.cuda()).cpu()
    assert torch.allclose(y, twin(x), atol=1e-5), (y, twin(x))
    said["outputs"].append(y.flatten()[:8].tolist())
    said["held"].append(held())
"""
SIZE = 10 * 128 * 1024


def run(script: str, folder: Path, *options: str, **settings: object) -> Finished:
    return on_card(f"{MODELS}{script}\nprint(json.dumps(said))\n", folder, options=options, **settings)


def offloaded(script: str, folder: Path, **settings: object) -> Finished:
    done = run(script, folder, "--with", "offload", **settings)
    assert "memtrace: 'offload' is applied to Model." in done.err, done.err
    return done


def copied(done: Finished) -> int:
    return int(annotations(done.trace)["fit.cost.offload_bytes"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("offload")


WRITES = """
model, twin = pair(cache=True)
both = model, twin
check(*both)
check(*both)
for write in (
    lambda of: of.layers[1].weight.mul_(2),
    lambda of: of.layers[2].weight.data.add_(0.01),
    lambda of: of.layers[2].weight.view(-1).data.add_(0.01),
    lambda of: setattr(of.layers[3].weight, "data", of.layers[3].weight.data * 0.5),
    lambda of: of.cache.add_(1),
    lambda of: of.load_state_dict({name: value * 0.9 for name, value in of.state_dict().items()}),
    lambda of: of.layers[5].weight.detach().zero_(),
):
    for of in both:
        write(of)
    check(*both)
    check(*both)
for write in (
    lambda of: of.layers[1].weight.mul_(1.5),
    lambda of: of.layers[7].weight.data.add_(0.01),
    lambda of: of.layers[8].weight[0].data.add_(0.01),
    lambda of: of.cache.add_(1),
):
    for of in both:
        of.inside = lambda of=of: write(of)
    check(*both)
    for of in both:
        of.inside = lambda: None
    check(*both)
with torch.inference_mode():
    check(*both)
    model.layers[6].weight.mul_(2), twin.layers[6].weight.mul_(2)
    check(*both)
check(*both)
read = model.state_dict()
assert all(torch.equal(value.cpu(), twin.state_dict()[name]) for name, value in read.items())
check(*both)  # while views of all weights are kept
assert all(torch.equal(value.cpu(), twin.state_dict()[name]) for name, value in read.items())
del read
check(*both)
"""


def test_written_weights_give_the_outputs_of_the_unchanged_program(folder: Path) -> None:
    unchanged = run(WRITES, folder).printed()
    said = offloaded(WRITES, folder).printed()
    assert said["outputs"] == unchanged["outputs"]
    saved = [without - with_it for without, with_it in zip(unchanged["held"], said["held"], strict=True)]
    assert saved[-2] == 0 and {*saved[:-2], saved[-1]} == {SIZE + 128 * 1024}


def test_weights_that_nobody_writes_are_copied_to_the_host_once(folder: Path) -> None:
    done = offloaded("model, twin = pair()\nfor _ in range(4): check(model, twin)", folder)
    assert copied(done) == SIZE + 3 * SIZE
    done = offloaded("model, twin = pair(cache=True)\nfor _ in range(4): check(model, twin)", folder)
    assert copied(done) == SIZE + 3 * SIZE + (4 + 3) * 128 * 1024  # a buffer goes each time
    compiled = "torch.compile(lambda y: y + 1, backend='eager')(x)\nmodel, twin = pair()\n"
    done = offloaded(compiled + "for _ in range(4): check(model, twin)", folder)
    assert copied(done) == 7 * SIZE  # writes of compiled code are not all counted
    write = "model, twin = pair()\nfor _ in range(4):\n    check(model, twin)\n    model.layers[0].weight.data"
    assert copied(offloaded(write, folder)) == SIZE + 3 * SIZE + (3 + 1) * 128 * 1024


def test_copies_are_in_pinned_memory_until_the_model_is_gone(folder: Path) -> None:
    script = """
def pinned():
    return torch.cuda.host_memory_stats()["allocated_bytes.current"]
others = pinned()
said["pinned"] = []
for _ in range(3):
    model, twin = pair()
    model.layers.append(nn.Linear(256, 96, bias=False, device="cuda").requires_grad_(False))  # 96 KiB
    for _ in range(2):
        model(x.cuda())
        said["pinned"].append(pinned() - others)
    del model
    gc.collect()
"""
    done = run(script, folder, "--with", "offload")
    # torch rounds each weight up to a power of two, and gives the memory of one model to the next.
    assert done.printed()["pinned"] == [SIZE + 128 * 1024] * 6


REFUSAL = """
make = torch.empty
def refuse(*args, **kwargs):
    if kwargs.get({word!r}) == {value!r}:
        raise RuntimeError("no memory")
    return make(*args, **kwargs)
torch.empty = refuse
model, twin = pair()
for _ in range(3):
    check(model, twin)
"""


def test_ordinary_memory_serves_if_none_can_be_pinned(folder: Path) -> None:
    done = offloaded(REFUSAL.format(word="pin_memory", value=True), folder)
    assert done.err.count("memtrace: The host has no more memory that can be pinned.") == 1
    assert max(done.printed()["held"]) < SIZE


def test_weights_stay_if_the_host_has_no_memory(folder: Path) -> None:
    done = run(REFUSAL.format(word="device", value="cpu"), folder, "--with", "offload")
    assert done.err.count("memtrace: The host has no memory for some weights, which stay on the card.") == 1
    assert "The change 'offload' found nothing to change" in done.err
    assert min(done.printed()["held"]) >= SIZE


def test_copies_are_in_the_host_whatever_the_default_device(folder: Path) -> None:
    script = """
model, twin = pair()
inputs = x.cuda()
with torch.device("cuda"):
    for _ in range(2):
        y = model(inputs)
        said["held"].append(held())
assert torch.allclose(y.cpu(), twin(x), atol=1e-5)
"""
    assert max(offloaded(script, folder).printed()["held"]) < SIZE


def test_failed_return_to_a_full_card_can_be_repeated(folder: Path) -> None:
    script = """
model, twin = pair()
check(model, twin)
inputs = x.cuda()
torch.cuda.empty_cache()
fill = []
def refuses(use):
    try:
        use()
    except torch.OutOfMemoryError:
        return True
for size in (1 << 20, 1 << 16):
    while not refuses(lambda: fill.append(torch.empty(size, dtype=torch.uint8, device="cuda"))):
        pass
said["outputs"] += [refuses(lambda: model(inputs)), refuses(lambda: model.layers[9].weight.sum())]
fill.clear()
check(model, twin)
"""
    said = offloaded(script, folder, card="600MiB").printed()
    assert said["outputs"][1:3] == [True, True]
    assert said["held"][1] < SIZE


def test_model_stays_while_another_thread_calls_it(folder: Path) -> None:
    script = """
model, twin = pair()
check(model, twin)
entered, other_is_done = threading.Event(), threading.Event()
def inside():
    if threading.current_thread() is not threading.main_thread():
        entered.set()
        assert other_is_done.wait(60)
        said["inside"] = [type(p) is nn.Parameter and p.untyped_storage().nbytes() for p in model.parameters()]
model.inside = inside
thread = threading.Thread(target=check, args=(model, twin))
twin.inside = lambda: None
thread.start()
assert entered.wait(60)
check(model, twin)
said["between"] = at_home(model)
other_is_done.set()
thread.join()
said["after"] = at_home(model)
"""
    said = offloaded(script, folder).printed()
    assert said["inside"] == [128 * 1024] * 10
    assert (said["between"], said["after"]) == (10, 0)
    assert said["outputs"] == [said["outputs"][0]] * 3


def test_model_goes_after_a_call_that_failed(folder: Path) -> None:
    script = """
model, twin = pair()
try:
    model(torch.rand(2, 3, device="cuda"))
except RuntimeError:
    said["outputs"].append("failed")
for _ in range(2):
    check(model, twin)
"""
    assert max(offloaded(script, folder).printed()["held"]) < SIZE


def test_models_stay_from_the_first_captured_graph_on(folder: Path) -> None:
    script = """
model, twin = pair()
other, other_twin = pair()
check(model, twin)
check(other, other_twin)
inputs = x.cuda()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    outputs = model(inputs)
addresses = [p.data_ptr() for p in model.parameters()]
check(model, twin)
check(other, other_twin)
graph.replay()
assert addresses == [p.data_ptr() for p in model.parameters()]
"""
    done = run(script, folder, "--with", "offload")
    assert done.printed()["held"][1] < SIZE and done.printed()["held"][3] >= 2 * SIZE
    assert changed(done.trace, "offload").places == 0
