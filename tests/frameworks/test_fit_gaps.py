# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Moments that the settings of transformers' and Lightning's Trainer show, and that a trial did not see."""

import json
import subprocess
from pathlib import Path

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from support.json_object import JsonObject
from support.programs import MEMTRACE

pytestmark = needs_frameworks

TRAINER = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments
class Saving(TrainerCallback):
    def on_save(self, arguments, state, control, **rest):
        print("saved")
data = [{"input_ids": torch.zeros(16, dtype=torch.long), "labels": torch.zeros(16, dtype=torch.long)}] * 400
arguments = TrainingArguments("out", max_steps=40, report_to="none", disable_tqdm=True, ARGUMENTS)
model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=64, vocab_size=99))
trainer = Trainer(model=model, args=arguments, train_dataset=data, OPTIONS)
trainer.train(resume_from_checkpoint=RESUMED)
"""

LIGHTNING = """
import lightning, torch
class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)
    def training_step(self, batch, index):
        return self.layer(batch).sum()
    def validation_step(self, batch, index):
        return self.layer(batch).sum()
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())
data = torch.utils.data.DataLoader(torch.zeros(400, 64), batch_size=4)
trainer = lightning.Trainer(max_epochs=2, accelerator="gpu", devices=1, logger=False, enable_progress_bar=False,
                            enable_model_summary=False, default_root_dir="out", OPTIONS)
trainer.fit(Module(), data, VALIDATED)
"""


# Keeps 16 MiB more in each step.
LEAKING = """
class Leak(TrainerCallback):
    kept = []
    def on_step_end(self, arguments, state, control, **rest):
        self.kept.append(torch.empty(16 << 20, dtype=torch.uint8, device="cuda"))
"""


def answer(folder: Path, text: str, card: str = "8GiB", steps: str = "4:8") -> tuple[int, JsonObject]:
    """Returns the exit code of `memtrace fit`, and its answer."""
    script = folder / "train.py"
    script.write_text(text)
    options = ["--card", card, "--watch", "0", "--steps", steps, "--margin", "0", "--no-remedies", "--json"]
    command = [MEMTRACE, "fit", *options, "--", PYTHON, script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    found: JsonObject = json.loads(done.stdout)
    return done.returncode, found


def gaps(folder: Path, text: str) -> tuple[int, list[str]]:
    """Returns the exit code of `memtrace fit` and the moments that were not seen, without the largest batch."""
    code, found = answer(folder, text)
    return code, sorted(gap["moment"] for gap in found["gaps"] if gap["moment"] != "largest_batch")


@pytest.mark.parametrize(
    ("arguments", "options", "resumed", "moments"),
    [
        ("", "", "None", []),
        ('eval_strategy="epoch"', "eval_dataset=data", "None", ["evaluation"]),
        ('eval_strategy="steps", eval_steps=2', "eval_dataset=data[:4]", "None", []),
        ("", "eval_dataset=data, callbacks=[Saving]", "None", ["checkpoint", "evaluation"]),
        (
            'eval_strategy="steps", eval_steps=20, save_steps=20, load_best_model_at_end=True',
            "eval_dataset=data[:4]",
            "bool(arguments.max_steps > 99)",
            ["best_model", "evaluation", "resume"],
        ),
    ],
)
def test_arguments_of_a_trainer_name_what_was_not_seen(
    tmp_path: Path, arguments: str, options: str, resumed: str, moments: list[str]
) -> None:
    text = TRAINER.replace("ARGUMENTS", arguments).replace("OPTIONS", options).replace("RESUMED", resumed)
    assert gaps(tmp_path, text) == (6 if moments else 0, moments)


@pytest.mark.parametrize(
    ("options", "validated", "moments"),
    [
        ("", "None", []),
        ("num_sanity_val_steps=2", "data", ["evaluation"]),
        ("num_sanity_val_steps=0, val_check_interval=2, limit_val_batches=2", "data", []),
    ],
)
def test_settings_of_lightning_name_what_was_not_seen(
    tmp_path: Path, options: str, validated: str, moments: list[str]
) -> None:
    text = LIGHTNING.replace("OPTIONS", options).replace("VALIDATED", validated)
    assert gaps(tmp_path, text) == (6 if moments else 0, moments)


def test_growth_that_a_trainer_ends_before_the_card_is_full_is_run_to_that_end(tmp_path: Path) -> None:
    text = TRAINER.replace("data = [", LEAKING + "data = [").replace("ARGUMENTS", 'save_strategy="no"')
    text = text.replace("OPTIONS", "callbacks=[Leak]").replace("RESUMED", "None")
    # The card would be full in about step 60 of the 40 that are planned; with 400 planned, it runs out.
    code, found = answer(tmp_path, text, "1536MiB", "10")
    assert (code, found["verdict"], found["seen"]["steps"]) == (0, "fits", 40)
    assert found["seen"]["planned_steps"] == 40
    code, found = answer(tmp_path, text.replace("max_steps=40", "max_steps=400"), "1536MiB", "10")
    assert (code, found["verdict"]) == (1, "does_not_fit")


def test_steps_that_lightning_plans_are_known(tmp_path: Path) -> None:
    text = LIGHTNING.replace("OPTIONS", "").replace("VALIDATED", "None")
    code, found = answer(tmp_path, text)
    assert (code, found["seen"]["planned_steps"]) == (0, 200)
    assert found["seen"]["steps"] < 200
