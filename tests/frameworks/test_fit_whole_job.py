# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace fit --whole-job` with the frameworks' own loops; each answer is followed by running the program whole."""

import json
from pathlib import Path

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from support.json_object import JsonObject
from support.programs import MIB, memtrace, on_card

pytestmark = needs_frameworks
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "OMP_NUM_THREADS": "1"}

# 60 batches of 64 x 4000 logits, 0.98 MiB each, after 50 steps.
TRAINER = """
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
class Items(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count
    def __len__(self):
        return self.count
    def __getitem__(self, i):
        return {"input_ids": torch.full((8,), 1), "labels": 1}
model = BertForSequenceClassification(BertConfig(num_labels=4000, num_hidden_layers=1, hidden_size=64,
                                                 num_attention_heads=4, intermediate_size=64, vocab_size=64))
arguments = TrainingArguments("out", per_device_train_batch_size=4, per_device_eval_batch_size=64, report_to="none",
                              eval_strategy="steps", eval_steps=50, save_strategy="steps", save_steps=50,
                              load_best_model_at_end=True, num_train_epochs=1, disable_tqdm=True)
Trainer(model, arguments, train_dataset=Items(240), eval_dataset=Items(60 * 64),
        compute_metrics=lambda predictions: {}).train()
"""
# Each of 50 validation batches leaves 8 MiB until the validation's end.
LIGHTNING = """
import lightning
import torch
from torch.utils.data import DataLoader
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(512, 512)
        self.kept = []
    def training_step(self, batch, i):
        return self.net(batch).sum()
    def validation_step(self, batch, i):
        self.kept.append(self.net(batch).repeat(1, 64))
    def on_validation_epoch_end(self):
        self.kept.clear()
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())
data = [torch.zeros(512) for _ in range(3200)]
trainer = lightning.Trainer(max_epochs=3, val_check_interval=50, logger=False, enable_progress_bar=False,
                            accelerator="gpu", devices=1, num_sanity_val_steps=0)
trainer.fit(Model(), DataLoader(data, batch_size=64), DataLoader(data, batch_size=64))
"""
# The averaged weights are exchanged once, at the end.
AVERAGED = """
import torch
from diffusers.training_utils import EMAModel
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.AdamW(model.parameters())
average = EMAModel(model.parameters())
average.to("cuda")
for x in torch.utils.data.DataLoader([torch.zeros(1024) for _ in range(20)], batch_size=4):
    model(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    average.step(model.parameters())
average.store(model.parameters())
average.copy_to(model.parameters())
"""
# The merge makes a product of each adapter's two matrices, of 16 MiB, beside the weights.
MERGED = """
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
model = get_peft_model(nn.Sequential(nn.Linear(2048, 2048), nn.Linear(2048, 2048)),
                       LoraConfig(target_modules=["0", "1"])).cuda()
optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad])
for x in torch.utils.data.DataLoader([torch.zeros(2048) for _ in range(20)], batch_size=4):
    model(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
merged = model.merge_and_unload()
print(type(merged).__name__)
"""
# Its item 37 is 32 times as long as the others. It saves where it is within the epoch, and can go on there.
STATEFUL = """
import os, sys
import torch
from torchdata.stateful_dataloader import StatefulDataLoader
model = torch.nn.Sequential(torch.nn.Linear(512, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
data = [torch.zeros(2048 if i == 37 else 64, 512) for i in range(40)]
loader = StatefulDataLoader(data, batch_size=1, num_workers=2)
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "last.pt")
if sys.argv[1:]:
    saved = torch.load(sys.argv[1])
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    loader.load_state_dict(saved["loader"])
for step, x in enumerate(loader):
    model(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 3 == 2:
        parts = {"model": model, "optimizer": optimizer, "loader": loader}
        torch.save({name: part.state_dict() for name, part in parts.items()}, path)
"""
# The averaged weights are exchanged before and after a validation: each exchange has a copy of 64 MiB beside them.
LIGHTNING_AVERAGED = """
import os
import lightning
import torch
from lightning.pytorch.callbacks import WeightAveraging
from torch.utils.data import DataLoader
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4096, 4096, bias=False).requires_grad_(False)
        self.head = torch.nn.Linear(4096, 8)
    def training_step(self, batch, i):
        return self.head(self.net(batch)).sum()
    def validation_step(self, batch, i):
        self.head(self.net(batch))
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
data = [torch.zeros(4096) for _ in range(400)]
trainer = lightning.Trainer(max_epochs=1, val_check_interval=50, logger=False, enable_progress_bar=False,
                            accelerator="gpu", devices=1, num_sanity_val_steps=0, enable_checkpointing=False,
                            callbacks=[WeightAveraging(device="cuda")])
trainer.fit(Model(), DataLoader(data, batch_size=4), DataLoader(data[:8], batch_size=4))
"""
# Generates 2 x 4 completions of at most 16 tokens for each step. The prompt 13 is 50 times as long as the others.
GRPO = """
import os
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
words = {f"w{i}": i for i in range(4094)} | {"<unk>": 4094, "<eos>": 4095}
words = Tokenizer(models.WordLevel(words, "<unk>"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<eos>", pad_token="<eos>", unk_token="<unk>")
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=2, n_positions=256, vocab_size=4096,
                                   bos_token_id=4095, eos_token_id=4095))
def reward(completions, completion_ids, **_):
    assert all(len(ids) == 16 for ids in completion_ids)
    return [float(len(text)) for text in completions]
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "out")
config = GRPOConfig(out, per_device_train_batch_size=8, num_generations=4, max_completion_length=16, num_train_epochs=1,
                    report_to=[], save_strategy="no", bf16=False, disable_tqdm=True)
data = Dataset.from_dict({"prompt": [" ".join(["w1"] * (200 if i == 13 else 4)) for i in range(16)]})
GRPOTrainer(model, reward, config, train_dataset=data, processing_class=tokenizer).train()
print(torch.cuda.max_memory_allocated())
"""


def fit(folder: Path, script: str, card: str, *options: str) -> tuple[int, JsonObject]:
    (folder / "train.py").write_text(script)
    options = ("--json", "--no-remedies", "--margin", "0", "--card", card, "--steps", "3", "--whole-job", *options)
    done = memtrace("fit", *options, "--", str(PYTHON), str(folder / "train.py"), seconds=500, **OFFLINE)
    assert done.out, done.err
    return done.status, json.loads(done.out)


@pytest.mark.parametrize(
    "script, small, large, of_its_own",
    [
        pytest.param(TRAINER, "150MiB,context=50MiB", "260MiB,context=50MiB", {"best_model"}, id="Trainer"),
        pytest.param(LIGHTNING, "200MiB,context=50MiB", "600MiB,context=50MiB", set(), id="Lightning"),
    ],
)
def test_evaluation_that_comes_later_is_run_at_once(
    tmp_path: Path, script: str, small: str, large: str, of_its_own: set[str]
) -> None:
    code, answer = fit(tmp_path, script, small)
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"], moments["evaluation"]["fits"]) == (1, "does_not_fit", False), answer["moments"]
    assert moments["evaluation"]["known"] == "exact" and moments["evaluation"]["line"].startswith("train.py:")
    on_card(script, tmp_path, python=PYTHON, card=small, expect=1, options=("--allocator", "native"), **OFFLINE)

    code, answer = fit(tmp_path, script, large)
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"]) == (0, "fits"), answer
    assert {"step", "evaluation", "checkpoint", "resume"} | of_its_own <= set(moments)
    on_card(script, tmp_path, python=PYTHON, card=large, options=("--allocator", "native"), **OFFLINE)


def test_largest_batch_of_torchdatas_loader_is_run_first(tmp_path: Path) -> None:
    again = f"{PYTHON} {tmp_path / 'train.py'} {{checkpoint}}"
    small, large = "150MiB,context=50MiB", "400MiB,context=50MiB"
    code, answer = fit(tmp_path, STATEFUL, small, "--resumed-by", again)
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"], moments["largest_batch"]["fits"]) == (1, "does_not_fit", False), answer["moments"]
    on_card(STATEFUL, tmp_path, python=PYTHON, card=small, expect=1, options=("--allocator", "native"), **OFFLINE)

    code, answer = fit(tmp_path, STATEFUL, large, "--resumed-by", again)
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"]) == (0, "fits"), answer
    assert {"largest_batch", "checkpoint", "resume"} <= set(moments)
    (loader,) = answer["batches"]
    assert (loader["largest"][0]["longest_item"], loader["largest"][0]["first_step"]) == (37, 1), loader
    on_card(STATEFUL, tmp_path, python=PYTHON, card=large, options=("--allocator", "native"), **OFFLINE)


def test_exchange_of_averaged_weights_is_a_moment(tmp_path: Path) -> None:
    code, answer = fit(tmp_path, AVERAGED, "1GiB")
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"]) == (0, "fits"), answer
    assert moments["best_model"]["fits"] and moments["best_model"]["known"] == "exact"


def test_exchange_of_lightnings_averaged_weights_is_a_moment(tmp_path: Path) -> None:
    small, large = "230MiB,context=50MiB", "300MiB,context=50MiB"
    code, answer = fit(tmp_path, LIGHTNING_AVERAGED, small)
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"], moments["best_model"]["fits"]) == (1, "does_not_fit", False), answer["moments"]
    options = ("--allocator", "native")
    on_card(LIGHTNING_AVERAGED, tmp_path, python=PYTHON, card=small, expect=1, options=options, **OFFLINE)

    code, answer = fit(tmp_path, LIGHTNING_AVERAGED, large)
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"], moments["best_model"]["known"]) == (0, "fits", "exact"), answer
    assert 60 * MIB < moments["best_model"]["needs"] - moments["step"]["needs"] < 68 * MIB, answer["moments"]
    on_card(LIGHTNING_AVERAGED, tmp_path, python=PYTHON, card=large, options=options, **OFFLINE)


def test_generation_of_grpo_is_a_moment(tmp_path: Path) -> None:
    code, answer = fit(tmp_path, GRPO, "1GiB")
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"], answer["gaps"]) == (0, "fits", []), answer
    assert {"step", "largest_batch", "generation", "end"} <= set(moments)
    assert moments["generation"]["fits"] and moments["generation"]["known"] == "exact"
    (loader,) = answer["batches"]
    assert (loader["largest"][0]["longest_item"], loader["largest"][0]["first_step"]) == (13, 1), loader
    # Its second step, with 7 MiB of the optimizer's states, comes after a generation of its own. No step needs more.
    assert moments["largest_batch"]["needs"] > moments["step"]["needs"] - MIB, answer["moments"]
    # The step of the long prompt takes 18 MiB more than the others. How torch rounds depends on the blocks before.
    whole = on_card(GRPO, tmp_path, python=PYTHON, options=("--allocator", "native"), **OFFLINE)
    assert abs(answer["peak_allocated"] - whole.printed()) < 2 * MIB


def test_merge_of_adapters_is_a_moment(tmp_path: Path) -> None:
    code, answer = fit(tmp_path, MERGED, "1GiB")
    moments = {moment["name"]: moment for moment in answer["moments"]}
    assert (code, answer["verdict"]) == (0, "fits"), answer
    best = moments["best_model"]
    assert best["fits"] and best["known"] == "exact"
    assert best["needs"] > moments["step"]["needs"], answer["moments"]
