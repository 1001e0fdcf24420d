# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The patch of `fit --diff`: the arguments that changes put into calls, and the changes that it leaves out."""

import ast
import sys
import types
from pathlib import Path

import pytest
from memtrace._changes import _change
from memtrace._fit import patch

# Functions of libraries, each of which makes the change `made` where the program calls it.
LIBRARY = """
import dataclasses
@dataclasses.dataclass
class TrainingArguments:  # whose __init__ is in no file
    output_dir: str = "out"
    optim: str = ""
    per_device_train_batch_size: int = 8
    gradient_accumulation_steps: int = 3
    def __post_init__(self):
        self.per_device_train_batch_size, self.gradient_accumulation_steps = 4, 6
class Optimizer:
    def __init__(self, parameters, **options):
        made()
class Stepped:
    def zero_grad(self, set_to_none=True):
        made()
AdamW = SGD = Optimizer
class Model:
    @classmethod
    def from_pretrained(cls, name, **options):
        made()
        return cls()
    def resize_token_embeddings(self, count, multiple=None, mean_resizing=True):
        made()
class Trainer:
    def __init__(self, arguments):
        made()
"""
# Its Trainer splits the batches of the loaders that it is given, as the change does with Lightning's.
LIGHTNING = """
class BatchSampler:
    def __init__(self, data, batch_size):
        self.batch_size = batch_size
class DataLoader:
    def __init__(self, data, batch_size=1, batch_sampler=None):
        self.batch_size = batch_size if batch_sampler is None else None
        self.batch_sampler = batch_sampler
class Trainer:
    def __init__(self, accumulate_grad_batches=1, limit_train_batches=1.0):
        self.limit_train_batches = limit_train_batches
    def fit(self, loader):
        change.is_argument(self, "accumulate_grad_batches", 2)
        if isinstance(self.limit_train_batches, int):
            change.is_argument(self, "limit_train_batches", 2 * self.limit_train_batches)
        change.is_argument(loader.batch_sampler or loader, "batch_size", 4)
        change.made()
"""
_OF_LIGHTNING = ("lightning.pytorch.trainer.trainer", "torch.utils.data.dataloader")
BEFORE = "model = Model()\n"
TRAINER = "\nTrainer(arguments)\n"
# The change, the program, and the program with it.
ROWS = [
    ("fused", "optimizer = AdamW(weights, lr=1)", "optimizer = AdamW(weights, lr=1, fused=True)"),
    ("fused", "optimizer = AdamW(weights, fused=False)", "optimizer = AdamW(weights, fused=True)"),
    ("fused", "optimizer = AdamW(\n    weights,  # all\n)", "optimizer = AdamW(\n    weights, fused=True,  # all\n)"),
    ("fused", "a = AdamW(weights); b = SGD(weights)", "a = AdamW(weights, fused=True); b = SGD(weights, fused=True)"),
    ("loop", "optimizer = SGD(weights)", "optimizer = SGD(weights, foreach=False)"),
    ("balanced", 'Model.from_pretrained("it")', 'Model.from_pretrained("it", device_map="balanced")'),
    ("mean_resizing", "model.resize_token_embeddings(8)", "model.resize_token_embeddings(8, mean_resizing=False)"),
    ("mean_resizing", "model.resize_token_embeddings(8, 4, True)", "model.resize_token_embeddings(8, 4, False)"),
    ("set_to_none", "Stepped().zero_grad(set_to_none=False)", "Stepped().zero_grad(set_to_none=True)"),
    ("set_to_none", "Stepped().zero_grad(False)", "Stepped().zero_grad(True)"),
    (
        "fused",
        'arguments = TrainingArguments("out")' + TRAINER,
        'arguments = TrainingArguments("out", optim="adamw_torch_fused")' + TRAINER,
    ),
    (
        "checkpoint",
        "arguments = TrainingArguments()" + TRAINER,
        "arguments = TrainingArguments(gradient_checkpointing=True)" + TRAINER,
    ),
    (
        "adam8bit",
        'arguments = TrainingArguments("out", optim="adamw_torch")' + TRAINER,
        'arguments = TrainingArguments("out", optim="adamw_bnb_8bit")' + TRAINER,
    ),
    (
        "liger",
        'arguments = TrainingArguments("out")' + TRAINER,
        'arguments = TrainingArguments("out", use_liger_kernel=True)' + TRAINER,
    ),
    (
        "micro",
        'arguments = TrainingArguments("out", per_device_train_batch_size=8)' + TRAINER,
        'arguments = TrainingArguments("out", per_device_train_batch_size=4, gradient_accumulation_steps=6)' + TRAINER,
    ),
    (
        "micro",
        "arguments = TrainingArguments()" + TRAINER,
        "arguments = TrainingArguments(per_device_train_batch_size=4, gradient_accumulation_steps=6)" + TRAINER,
    ),
]
OF_LIGHTNING = [
    (
        "Trainer().fit(DataLoader(data, batch_size=8))",
        "Trainer(accumulate_grad_batches=2).fit(DataLoader(data, batch_size=4))",
    ),
    (
        "loader = DataLoader(data, 8)\ntrainer = Trainer(limit_train_batches=10)\ntrainer.fit(loader)",
        "loader = DataLoader(data, 4)\n"
        "trainer = Trainer(limit_train_batches=20, accumulate_grad_batches=2)\ntrainer.fit(loader)",
    ),
    (
        "def made(size):\n    return DataLoader(data, size)\nTrainer().fit(made(8))",
        "def made(size):\n    return DataLoader(data, 4)\nTrainer(accumulate_grad_batches=2).fit(made(8))",
    ),
]
LEFT_OUT_OF_LIGHTNING = [
    "def made():\n    return DataLoader(data, 8)\nother = made()\nTrainer().fit(made())",
    "Trainer().fit(DataLoader(data, batch_sampler=BatchSampler(data, 8)))",
    "Loader = DataLoader\nTrainer().fit(Loader(data, 8))",
    "Trainer().fit(DataLoader(data, **{'batch_size': 8}))",
]
LEFT_OUT = [
    ("checkpoint", "2", 'arguments = TrainingArguments("out")' + TRAINER, "it is more than an argument of a call"),
    ("adam8bit", "", "optimizer = AdamW(weights)", "it is more than an argument of a call"),
    ("pieces", "", "optimizer = AdamW(weights)", "it is more than an argument of a call"),
    ("adam8bit", "", "arguments = TrainingArguments(**{})" + TRAINER, "no single call in your files makes it"),
    ("fused", "", "make = AdamW\noptimizer = make(weights)", "no single call in your files makes it"),
]


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Stands for torch, so that nothing of it is imported."""
    optim, made = types.ModuleType("torch.optim"), types.ModuleType("torch")
    optim.AdamW = optim.SGD = type("Optimizer", (), {})  # type: ignore[attr-defined]
    made.nn = types.SimpleNamespace(Embedding=type("Embedding", (), {}), Module=Module)  # type: ignore[attr-defined]
    made.optim = optim  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", made)
    monkeypatch.setitem(sys.modules, "torch.optim", optim)
    return made


class Module:
    """Stands for a module, and for an embedding whose weight is trained."""

    def __init__(self) -> None:
        self._modules: dict[str, object] = {}
        self.weight = types.SimpleNamespace(requires_grad=True)


def patched(
    name: str, value: str, program: str, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str = LIBRARY
) -> patch.Patch:
    """Runs the program, in which calls of the library `text` make the change; returns the patch."""
    change = _change.Change(name, value)
    library = types.ModuleType("library")
    exec(compile(text, "/usr/lib/site-packages/library.py", "exec"), vars(library))
    vars(library).update(made=change.made, change=change, data=[])
    is_lightning = text == LIGHTNING
    for module in _OF_LIGHTNING if is_lightning else ["transformers.training_args"]:
        monkeypatch.setitem(sys.modules, module, library)
    made = patch.Patch([change])
    script = folder / "train.py"
    script.write_text(BEFORE + program)
    monkeypatch.chdir(folder)
    names = vars(library) | {"weights": [], "Model": vars(library).get("Model", object), "__name__": "__main__"}
    exec(compile(script.read_text(), str(script), "exec"), names)
    return made


def after(text: str) -> str:
    """Returns the lines of a whole file that a patch leaves."""
    lines = text.splitlines(keepends=True)[3:]
    return "".join(line[1:] for line in lines if line[0] in " +")


@pytest.mark.parametrize(("name", "program", "wanted"), ROWS)
def test_change_is_an_argument(
    name: str, program: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = patched(name, "", program, tmp_path, monkeypatch)
    text = after(made.text())
    assert (text.rstrip("\n"), list(made.left_out())) == ((BEFORE + wanted).rstrip("\n"), [])
    ast.parse(text)


@pytest.mark.parametrize(("program", "wanted"), OF_LIGHTNING)
def test_micro_batches_of_lightning_are_arguments_of_two_calls(
    program: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = patched("micro", "2", program, tmp_path, monkeypatch, LIGHTNING)
    text = after(made.text())
    assert (text.rstrip("\n"), list(made.left_out())) == (BEFORE + wanted, [])
    ast.parse(text)


@pytest.mark.parametrize("program", LEFT_OUT_OF_LIGHTNING)
def test_micro_batches_of_lightning_are_left_out(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = patched("micro", "2", program, tmp_path, monkeypatch, LIGHTNING)
    assert (made.text(), list(made.left_out())) == ("", [("micro", "no single call in your files makes it")])


@pytest.mark.parametrize(("name", "value", "program", "why"), LEFT_OUT)
def test_change_is_left_out(
    name: str, value: str, program: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = patched(name, value, program, tmp_path, monkeypatch)
    assert (made.text(), list(made.left_out())) == ("", [(name, why)])


def test_argument_that_keeps_states_of_embeddings_is_left_out(
    torch: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.nn.Embedding, embedding = Module, Module()
    made = patched("adam8bit", "", 'arguments = TrainingArguments("out")' + TRAINER, tmp_path, monkeypatch)
    assert made.text() == "" and embedding.weight.requires_grad
    assert [why for _, why in made.left_out()] == [
        "transformers keeps the states of embeddings in 32 bits with this optimizer"
    ]


def test_each_change_that_is_an_argument_is_in_the_table() -> None:
    named = {name for name, *_ in ROWS}
    assert named == set(patch._ARGUMENTS) | set(patch._TRAINING_ARGUMENTS)
