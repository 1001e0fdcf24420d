# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Batches of Trainer and Lightning are split, and an optimizer step has as many examples as before."""

import subprocess
from pathlib import Path

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from support.events import annotations
from support.fit_changes import changed
from support.programs import on_card

pytestmark = needs_frameworks

TRAINER = """
import dataclasses, json, torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
sizes = GPT2Config(n_embd=256, n_layer=2, n_head=4, vocab_size=2000, bos_token_id=0, eos_token_id=1)
data = [{"input_ids": torch.full((128,), i), "labels": torch.full((128,), i)} for i in range(64)]
quiet = {"report_to": [], "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True}
args = TrainingArguments("out", per_device_train_batch_size=8, gradient_accumulation_steps=2, max_steps=3, **quiet)
again = dataclasses.replace(args)
assert again.per_device_train_batch_size == args.per_device_train_batch_size
trainer = Trainer(model=GPT2LMHeadModel(sizes), args=args, train_dataset=data)
trainer.train()
print(json.dumps({"batch": args.per_device_train_batch_size, "accumulation": args.gradient_accumulation_steps,
                  "steps": trainer.state.global_step, "peak": torch.cuda.max_memory_allocated()}))
"""
LIGHTNING = """
import json, torch
import lightning
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1))
        self.sizes = []
    def training_step(self, batch, number):
        self.sizes.append(len(batch))
        return self.net(batch).mean()
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())
model = Model()
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
trainer = lightning.Trainer(max_steps=3, accumulate_grad_batches=2, **quiet)
trainer.fit(model, torch.utils.data.DataLoader(torch.zeros(4096, 1024), batch_size=8))
assert set(model.sizes) == {model.sizes[0]} and len(model.sizes) == 3 * trainer.accumulate_grad_batches
print(json.dumps({"batch": model.sizes[0], "accumulation": trainer.accumulate_grad_batches,
                  "steps": trainer.global_step, "peak": torch.cuda.max_memory_allocated()}))
"""
AGAIN = """
trainer = lightning.Trainer(max_steps=3, accumulate_grad_batches=2, **quiet)
trainer.fit(model, loader)
"""


def run(script: str, folder: Path, change: str) -> tuple[dict, tuple[int, int]]:
    offline = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    done = on_card(script, folder, python=PYTHON, MEMTRACE_FIT_CHANGES=change, **offline)
    assert "memtrace: " not in done.err, done.err
    told = changed(done.trace, "micro")
    return done.printed(), (0, 0) if told is None else (told.places, told.of)


@pytest.mark.parametrize("script", [TRAINER, LIGHTNING])
def test_batch_is_split_and_its_product_kept(tmp_path, script):
    unchanged, _ = run(script, tmp_path, "")
    assert (unchanged["batch"], unchanged["accumulation"], unchanged["steps"]) == (8, 2, 3)
    peak = unchanged["peak"]
    for parts in (2, 4):
        said, places = run(script, tmp_path, f"micro={parts}")
        assert (said["batch"], said["accumulation"], said["steps"]) == (8 // parts, 2 * parts, 3)
        assert places == (parts, 8) and said["peak"] < peak
        peak = said["peak"]
    for change in ("micro=0", "micro=3"):  # it only looks; the batch cannot be divided
        said, places = run(script, tmp_path, change)
        assert said == unchanged and places == (0, 8)


def test_patch_of_lightning_has_the_trials_micro_batches_and_peak(tmp_path):
    script = LIGHTNING.replace("max_steps=3", "max_steps=3, limit_train_batches=6")
    (tmp_path / "trial").mkdir()
    offline = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    trial = on_card(script, tmp_path / "trial", python=PYTHON, MEMTRACE_FIT_CHANGES="micro=4", **offline)
    facts = annotations(trial.trace)
    assert not any(name.startswith("fit.no_patch") for name in facts)

    patched = tmp_path / "train.py"
    patched.write_text(script)
    patch = facts["fit.patch"].replace("\\n", "\n")
    subprocess.run(["patch", patched], input=patch, text=True, check=True, timeout=60)
    for argument in ("accumulate_grad_batches=8", "limit_train_batches=24", "batch_size=2"):
        assert argument in patched.read_text()
    told = on_card(patched, tmp_path, python=PYTHON, **offline).printed()
    assert told == trial.printed() and (told["batch"], told["accumulation"]) == (2, 8)


def test_loader_of_two_fits_of_lightning_is_split_once(tmp_path):
    script = LIGHTNING.replace("trainer.fit(model, ", "loader = ").replace("batch_size=8))", "batch_size=8)")
    script = script.replace("assert set", "trainer.fit(model, loader)\nmodel.sizes.clear()\n" + AGAIN + "assert set")
    said, places = run(script, tmp_path, "micro=2")
    assert (said["batch"], said["accumulation"], places) == (4, 4, (2, 8))
