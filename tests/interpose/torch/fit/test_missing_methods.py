# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Releases of libraries that lack what the moments and the changes of fit replace: programs can import and use them."""

import json
from pathlib import Path

import pytest
from support.events import annotations
from support.fit_changes import changed_places
from support.programs import Finished, on_card

# Stand-ins by file, each without some of what memtrace replaces in the library.
EMPTY = "class {name}:\n    pass\n"
LIBRARIES = {
    "peft/tuners/tuners_utils.py": EMPTY.format(name="BaseTuner"),
    "diffusers/training_utils.py": EMPTY.format(name="EMAModel"),
    "transformers/trainer_callback.py": EMPTY.format(name="CallbackHandler"),
    "transformers/training_args.py": EMPTY.format(name="TrainingArguments"),
    "transformers/generation/utils.py": EMPTY.format(name="GenerationMixin"),
    "transformers/trainer.py": """
class Trainer:
    def __init__(self, **args):
        import types
        self.args, self.eval_dataset = types.SimpleNamespace(**args), None
        self.callback_handler = types.SimpleNamespace(callbacks=[])
    def train(self, resume_from_checkpoint=None):
        return "trained"
""",
    # It has no __init_subclass__, as in old releases, and no from_pretrained.
    "transformers/modeling_utils.py": """
import torch
class PreTrainedModel(torch.nn.Module):
    def resize_token_embeddings(self, count, mean_resizing=True):
        return self.get_input_embeddings()
""",
    "accelerate/utils.py": "",
    "bitsandbytes/optim.py": "",
    "lightning/pytorch/loops/training_epoch_loop.py": EMPTY.format(name="_TrainingEpochLoop"),
    "lightning/pytorch/loops/fit_loop.py": EMPTY.format(name="_FitLoop"),
    "lightning/pytorch/loops/evaluation_loop.py": "",
    "lightning/pytorch/callbacks/model_checkpoint.py": EMPTY.format(name="ModelCheckpoint"),
    "lightning/pytorch/callbacks/weight_averaging.py": EMPTY.format(name="WeightAveraging"),
}
MODULES = [file.removesuffix(".py").replace("/", ".") for file in LIBRARIES]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder that a script finds the stand-ins in, before installed libraries."""
    for file, text in LIBRARIES.items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        for package in path.relative_to(tmp_path).parents[:-1]:
            (tmp_path / package / "__init__.py").touch()
        path.write_text(text)
    return tmp_path


CHANGES = ("adam8bit", "balanced", "lora", "mean_resizing", "micro", "offload", "second_card")
TRAINING = """
from transformers.modeling_utils import PreTrainedModel
class Model(PreTrainedModel):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(512, 512)
    def get_input_embeddings(self):
        return self.words
    def forward(self, tokens):
        return self.words(tokens)
model = Model().to("cuda")
model.resize_token_embeddings(512)
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(4, dtype=torch.long, device="cuda")).sum().backward()
optimizer.step()
print("trained")
"""


def run(folder: Path, script: str, **settings: object) -> Finished:
    told = {"MEMTRACE_FIT_MOMENTS": "job", "MEMTRACE_FIT_STEPS": "9:9", "PYTHONDONTWRITEBYTECODE": "1"} | settings
    path = folder / "train.py"
    path.write_text(f"import torch, sys\nsys.path.insert(0, {str(folder)!r})\ntorch.ones(1, device='cuda')\n{script}")
    return on_card(path, folder, card="2x4GiB", options=("--allocator", "native"), warm=False, **told)


def test_imports_succeed_where_a_library_lacks_a_method(folder: Path) -> None:
    script = "import importlib\n" + "\n".join(f"importlib.import_module({name!r})" for name in MODULES)
    done = run(folder, script + "\nprint('imported')")
    assert (done.out, done.err) == ("imported\n", "")
    # A program that has none of the moments has no gap.
    assert json.loads(annotations(done.trace)["fit.gaps"]) == []


def test_change_is_made_nowhere_where_a_library_lacks_a_method(folder: Path) -> None:
    imports = "import importlib\n" + "\n".join(f"importlib.import_module({name!r})" for name in MODULES)
    done = run(folder, imports + TRAINING, MEMTRACE_FIT_CHANGES=",".join(CHANGES))
    assert (done.out, done.err) == ("trained\n", "")
    assert {name: changed_places(done.trace, name) for name in CHANGES} == dict.fromkeys(CHANGES, 0)


def test_gap_says_what_the_library_lacks(folder: Path) -> None:
    done = run(
        folder,
        """
from transformers.trainer import Trainer
trainer = Trainer(eval_strategy="steps", save_strategy="no", load_best_model_at_end=True)
print(trainer.train())
""",
    )
    assert done.out == "trained\n"
    gaps = {gap["moment"]: gap["why_not"] for gap in json.loads(annotations(done.trace)["fit.gaps"])}
    assert gaps == {
        "evaluation": "This transformers has no Trainer.evaluate.",
        "best_model": "This transformers has no Trainer._load_best_model.",
    }


def test_process_that_resumes_imports_a_trainer_without_train(folder: Path) -> None:
    (folder / "transformers" / "trainer.py").write_text(EMPTY.format(name="Trainer"))
    checkpoint = folder / "checkpoint.json"
    checkpoint.write_text(json.dumps({"kind": "transformers", "path": "nowhere"}))
    settings = {"MEMTRACE_FIT_MOMENTS": "resume", "MEMTRACE_FIT_CHECKPOINT": str(checkpoint)}
    assert run(folder, "import transformers.trainer\nprint('imported')", **settings).out == "imported\n"
