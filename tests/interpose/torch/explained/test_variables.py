# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the program's variables that reach held memory, by name, class, elements and bytes."""

from pathlib import Path

from support.programs import MIB, memtrace, on_card

# 64 MiB of parameters, as much of gradients, twice that of states; a cache within an object, whose values are objects;
# functools' cache of a method; a closure; a class; and a graph, which no variable reaches.
HOLDING = """
import collections, functools, torch
MIB = 1 << 20
def mib(number):
    return torch.empty(number << 20, dtype=torch.uint8, device="cuda")
class Output:
    def __init__(self, number):
        self.scores = (mib(number), {"more": [mib(number)]})
class Backend:
    table = mib(21)
    def __init__(self):
        self.cache = collections.OrderedDict((key, Output(10)) for key in range(300))
        self.plain = mib(22)
    @functools.lru_cache(maxsize=1)
    def weights(self):
        return [mib(23)]
    def __len__(self):
        raise RuntimeError("code of the program ran")
def closed():
    inside = mib(24)
    return lambda: inside
backend = Backend()
backend.weights()
call = closed()
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048, bias=False) for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
model(torch.zeros(8, 2048, device="cuda")).sum().backward()
optimizer.step()
again = model
def run():
    local = [mib(25)]
    loss = torch.ones(26 << 18, device="cuda", requires_grad=True).exp().sum()
    mib(1 << 20)
run()
"""


def test_each_variable_is_listed_with_its_memory(tmp_path: Path) -> None:
    run = on_card(HOLDING, tmp_path, card="24GiB", expect=1)
    report = run.report()
    found = {row["name"]: row for row in report["variables"]}
    expected = {
        "backend.cache": ("OrderedDict", 300, 6000, "train.py"),
        "optimizer": ("AdamW", 0, 128, "train.py"),
        "model": ("Sequential", 0, 128, "train.py"),
        "Backend.table": ("Tensor", 0, 21, "train.py"),
        "backend.plain": ("Tensor", 0, 22, "train.py"),
        "Backend.weights": ("lru_cache", 0, 23, "train.py"),
        "inside": ("Tensor", 0, 24, "<lambda>, train.py"),
        "local": ("list", 1, 25, "run, train.py"),
    }
    for name, row in expected.items():
        told = found[name]
        assert (told["kind"], told["count"], round(told["bytes"] / MIB), told["place"]) == row
    assert found.keys() == expected.keys()  # "again" reaches what "model" does, and "loss" 4 bytes


def test_report_lists_largest_variables_and_unreached_memory(tmp_path: Path) -> None:
    run = on_card(HOLDING.replace("range(300)", "range(3)"), tmp_path, card="24GiB", expect=1)
    text = " ".join(memtrace("report", "--verbose", str(run.trace)).out.split())
    assert "Reached by variables: " in text
    assert "model (Sequential, train.py) 128.0 MiB" in text
    assert "backend.cache (OrderedDict of 3, train.py) 60.0 MiB" in text
    assert "No variable reaches" in text, text


# All objects refer to the trainer, which refers to all, as in frameworks; the module keeps outputs beside parameters.
KNOTTED = """
import torch
class Connector:
    def __init__(self, trainer):
        self.trainer = trainer
class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.outputs = []
        self.layer = torch.nn.Linear(2048, 4096, bias=False, device="cuda")
class Trainer:
    def __init__(self, module):
        self.connector = Connector(self)
        self.callbacks = [Connector(self)]
        self.batch = torch.zeros(16 << 18, device="cuda")
        module.trainer = self
trainer = Trainer(module := Module())
for _ in range(5):
    module.outputs.append(torch.zeros(10 << 18, device="cuda"))
torch.zeros(1 << 40, device="cuda")
"""


def test_memory_is_counted_only_at_the_variable_that_owns_it(tmp_path: Path) -> None:
    report = on_card(KNOTTED, tmp_path, card="24GiB", expect=1).report()
    found = {row["name"]: (row["count"], row["bytes"] // MIB) for row in report["variables"]}
    assert found == {"module.outputs": (5, 50), "module": (0, 32), "trainer.batch": (0, 16)}


def test_names_are_omitted_on_request(tmp_path: Path) -> None:
    run = on_card(HOLDING, tmp_path, card="24GiB", expect=1, MEMTRACE_SOURCE="0")
    assert "variables" not in run.report()
