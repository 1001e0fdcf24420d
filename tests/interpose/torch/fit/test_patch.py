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


def patched(name: str, value: str, program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> patch.Patch:
    """Runs the program, in which calls of the library make the change; returns the patch."""
    change = _change.Change(name, value)
    library = types.ModuleType("transformers.training_args")
    exec(compile(LIBRARY, "/usr/lib/site-packages/library.py", "exec"), vars(library))
    vars(library)["made"] = change.made
    monkeypatch.setitem(sys.modules, "transformers.training_args", library)
    made = patch.Patch([change])
    script = folder / "train.py"
    script.write_text(BEFORE + program)
    monkeypatch.chdir(folder)
    exec(compile(script.read_text(), str(script), "exec"), vars(library) | {"weights": [], "__name__": "__main__"})
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
