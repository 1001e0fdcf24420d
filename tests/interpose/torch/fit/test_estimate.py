# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace.estimate` in a script gives the training's own figures, and leaves the process unchanged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from memtrace._estimate.answer import from_fit
from support.programs import on_card

MODEL = """
import dataclasses, functools, json, sys, threading
import torch
import memtrace

FACTOR = 2

@dataclasses.dataclass
class Sizes:
    width: int = 1024
    depth: int = 4

    @functools.cached_property
    def widths(self):
        return [self.width] * self.depth

def scaled(x):
    return x * FACTOR

class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width, bias=False)
        self.activation = lambda x: scaled(torch.relu(x))

    def forward(self, x):
        return self.activation(self.linear(x))

class Model(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.layers = torch.nn.ModuleList(map(Layer, sizes.widths))
        self.tied = torch.nn.Linear(sizes.width, sizes.width, bias=False)
        self.tied.weight = self.layers[0].linear.weight
        self.layers[1].requires_grad_(False)

    def forward(self, x, mask):
        assert [field.name for field in dataclasses.fields(self.sizes)] == ["width", "depth"]
        for layer in self.layers:
            x = layer(x)
        if not mask.all():  # what the batch says steers the step
            x = torch.cat([x, x])
        return self.tied(x)

model = Model(Sizes())
batch = {"x": torch.randn(512, 1024), "mask": torch.tensor([True, False])}
loss_of = lambda outputs: scaled(outputs).sum()
"""

COMPARED = """
import os
from memtrace._estimate import cards_here

model.cuda()
optimizer = torch.optim.AdamW([
    {"params": [p for p in model.parameters() if p.requires_grad], "lr": 1e-3},
])
torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)

def state():
    return torch.cuda.memory_stats(), torch.get_rng_state().tolist(), len(optimizer.state), model.training

before = state()
fresh = memtrace.estimate(model, optimizer, batch, loss=loss_of)
assert state() == before

batch = {name: value.cuda() for name, value in batch.items()}
for step in range(3):
    loss_of(model(**batch)).backward()
    optimizer.step()
    optimizer.zero_grad()
trained = memtrace.estimate(model, optimizer, batch, loss=loss_of)
with torch.no_grad():
    evaluated = memtrace.estimate(model.eval(), None, batch)
figures = {"own": [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]}
for name, found in {"fresh": fresh, "trained": trained, "evaluated": evaluated}.items():
    figures[name] = {"peaks": [found.peak_allocated, found.peak_reserved], "parts": found.parts, "fits": found.fits}
del os.environ["MEMTRACE_CARD"]  # as if it were a GPU
figures["card"] = cards_here.spec()
print(json.dumps(figures))
"""

ERRORS = """
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
try:
    memtrace.check_fit(model, optimizer, batch, card="540MiB", loss=loss_of)
except AssertionError as error:
    found = error.estimate
    print(json.dumps([type(error).__name__, str(error), str(found), found.short_by, found.first_failure.phase]))

def tell(**changed):
    words = {"model": model, "example_inputs": batch, "card": "2GiB", **changed}
    try:
        print("no error", memtrace.estimate(**words))
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, str(error).replace("\\n", " "))

tell(card="24GB")
tell(card=None)
tell(steps=0)
tell(example_inputs=torch.randn(2, 3))
tell(model=torch.nn.DataParallel(model))
model.layers[2].lock = threading.Lock()
tell()

class Keeping(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)
        self.kept = []

    def forward(self, x):
        self.kept.append(torch.empty(4 << 20, device=x.device))
        return self.linear(x)

tell(model=Keeping(), example_inputs=torch.zeros(2, 16), card="1GiB")
tell(model=torch.nn.Linear(8192, 8192), example_inputs=torch.zeros(2, 8192), card="600MiB")
parts = torch.nn.Sequential(torch.nn.Linear(16, 4096), torch.nn.Linear(4096, 1))
tell(model=parts, optimizer=None, example_inputs=torch.zeros(16384, 16), card="580MiB")
"""


def test_estimate_equals_the_training_itself(tmp_path: Path) -> None:
    finished = on_card(MODEL + COMPARED, tmp_path, card="2GiB,other=300MiB,cc=9.0", options=("--allocator", "native"))
    figures = finished.printed()
    allocated, reserved = figures["own"]
    fresh, trained, evaluated = figures["fresh"], figures["trained"], figures["evaluated"]
    # The script's own count is 3 steps, of which the last two are alike.
    assert fresh["peaks"] == [allocated, reserved]
    assert trained["parts"]["optimizer states"] == fresh["parts"]["optimizer states"]
    assert fresh["parts"]["parameters"] == 4 * (4 << 20)  # tied ones count once
    assert fresh["fits"] and trained["fits"] and evaluated["fits"]
    assert "gradients" not in evaluated["parts"]
    assert fresh["parts"]["other processes"] == 300 << 20
    # Two threads' cuBLAS handles of 65 MiB on a Hopper card count as others': the driver does not tell who owns them.
    assert figures["card"] == "2048MiB,other=430MiB,cc=9.0"


def test_estimate_errors_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MODEL + ERRORS)
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env={**alone, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    fit, *errors = done.stdout.splitlines()
    assert fit.startswith('["DoesNotFit", "The model runs out of memory in ')
    assert " more than the " in fit and " left." in fit and "fails is at train.py:" in fit
    says = [
        ("ValueError", "write 24GiB"),
        ("RuntimeError", 'this process has no card. Name the card to estimate for, as in card="24GiB".'),
        ("ValueError", "steps must be 1 or more, not 0"),
        ("RuntimeError", "the step itself failed on the simulated card: TypeError"),
        ("RuntimeError", "the model is a DataParallel. Give the model inside it"),
        ("RuntimeError", "the model's layers.2.lock cannot be sent to the process that tries the step"),
        ("no error", "does not fit: it holds more memory from step to step, and the card is full in step "),
        ("no error", "The model runs out of memory in the placement of the model: it needs"),
        ("no error", "The request that fails is at module 0. "),
    ]
    assert len(errors) == len(says)
    for line, (kind, text) in zip(errors, says, strict=True):
        assert line.startswith(kind) and text in line


@pytest.mark.slow
def test_largest_batch_fits_and_one_row_more_does_not(tmp_path: Path) -> None:
    script = """
import memtrace, torch

class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(1024, 1024)

    def forward(self, x, scale):
        return self.linear(x) * scale

model = Scaled()
optimizer = torch.optim.SGD(model.parameters())
of_rows = lambda rows: {"x": torch.zeros(rows, 2048, 1024), "scale": torch.tensor(2.0)}  # a row has 8 MiB
largest = memtrace.largest_batch(model, optimizer, of_rows(1), card="640MiB")
print(largest, memtrace.check_fit(model, optimizer, of_rows(largest), card="640MiB").fits)
print(memtrace.estimate(model, optimizer, of_rows(largest + 1), card="640MiB").fits)
try:
    memtrace.largest_batch(model, optimizer, of_rows(1), card="536MiB")
except memtrace.DoesNotFit as error:
    print(error)
"""
    (tmp_path / "train.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    fits, one_more, refusal = done.stdout.splitlines()
    assert int(fits.partition(" ")[0]) > 1 and fits.endswith(" True"), done.stderr
    assert one_more == "False"
    assert refusal.startswith("The model runs out of memory in ")


def test_failure_without_a_known_line_has_none() -> None:
    failure = {"line": None, "bytes": 9, "short_by": 4, "step": 1, "phase": "forward", "fragmentation": False}
    need = {"card": 0, "needs": 12, "parts": [], "peak_allocated": 12, "peak_reserved": 12}
    found = from_fit({"cards": [need], "card_bytes": [8], "fits": False, "first_failure": failure, "seen": {}}, "8")
    assert found.first_failure is not None and found.first_failure.line is None
    assert "runs out of memory" in str(found) and "is at" not in str(found)


@pytest.mark.parametrize("name", ["FitCallback", "LightningFitCallback"])
def test_importing_memtrace_imports_no_framework(name: str) -> None:
    frameworks = "print({'torch', 'transformers', 'lightning'} & set(sys.modules))"
    script = f"import sys, memtrace, memtrace.callbacks; {frameworks}; memtrace.callbacks.{name}s"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "set()\n"
    assert "AttributeError: memtrace.callbacks has no" in done.stderr
