# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Remedies that are words of a framework: each is named where its program runs out of memory."""

from pathlib import Path
from typing import Any

from frameworks_under_test import PYTHON, needs_frameworks
from support.programs import MIB, memtrace, on_card

pytestmark = needs_frameworks
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "OMP_NUM_THREADS": "1"}

MODEL = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
config = LlamaConfig(vocab_size=8192, hidden_size=256, intermediate_size=512, num_hidden_layers=8,
                     num_attention_heads=4, num_key_value_heads=4, tie_word_embeddings=False)
"""
# Each layer keeps 4 x 2048 x 2048 weights of 4 bytes, 64 MiB, and more of that size for a moment.
EAGER = """
config._attn_implementation = "{}"
model = LlamaForCausalLM(config).cuda()
words = torch.zeros(1, 2048, dtype=torch.long, device="cuda")
model(input_ids=words, labels=words).loss.backward()
"""
# Embedding and head, 8 MiB each, are copied and trained.
COPIED = """
from peft import LoraConfig, get_peft_model
adapters = LoraConfig(r=4, target_modules=["q_proj"], {})
model = get_peft_model(LlamaForCausalLM(config).cuda(), adapters)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], foreach=False)
words = torch.zeros(1, 16, dtype=torch.long, device="cuda")
model(input_ids=words, labels=words).loss.backward()
optimizer.step()
"""
# 60 batches of 64 x 4000 logits, 0.98 MiB each.
EVALUATED = """
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
class Items(torch.utils.data.Dataset):
    def __len__(self):
        return 60 * 64
    def __getitem__(self, i):
        return {{"input_ids": torch.full((8,), 1), "labels": 1}}
model = BertForSequenceClassification(BertConfig(num_labels=4000, num_hidden_layers=1, hidden_size=64,
                                                 num_attention_heads=4, intermediate_size=64, vocab_size=64))
arguments = TrainingArguments("out", per_device_eval_batch_size=64, report_to="none", {})
Trainer(model, arguments, eval_dataset=Items(), compute_metrics=lambda predictions: {{}}).evaluate()
"""
# Each update leaves 1 MiB of predictions and 2 MiB of targets.
METRIC = """
from torchmetrics.classification import BinaryAUROC
metric = BinaryAUROC({}).cuda()
model = torch.nn.Linear(16, 1).cuda()
for batch in range(100):
    with torch.no_grad():
        out = model(torch.zeros(1 << 18, 16, device="cuda")).squeeze(1)
    metric.update(out.sigmoid(), torch.ones(1 << 18, dtype=torch.long, device="cuda"))
"""


def told(script: str, folder: Path, card: str) -> tuple[list[dict[str, Any]], str]:
    """Runs it out of memory; gives the remedies and the text of the report."""
    card = f"{card},context=100MiB"
    done = on_card(
        MODEL + script, folder, python=PYTHON, card=card, expect=1, options=("--allocator", "memtrace"), **OFFLINE
    )
    return done.report()["remedies"], " ".join(memtrace("report", str(done.trace)).out.split())


def completes(script: str, folder: Path, card: str) -> None:
    on_card(MODEL + script, folder, python=PYTHON, card=f"{card},context=100MiB", **OFFLINE)


def test_eager_attention_has_a_row_and_sdpa_completes(tmp_path: Path) -> None:
    rows, _ = told(EAGER.format("eager"), tmp_path, "800MiB")
    assert rows[0]["name"] == "fused attention" and 'attn_implementation="sdpa"' in rows[0]["change"], rows
    completes(EAGER.format("sdpa"), tmp_path, "800MiB")


def test_modules_that_peft_copies_and_trains_have_a_row(tmp_path: Path) -> None:
    copies = 'modules_to_save=["embed_tokens", "lm_head"]'
    rows, _ = told(COPIED.format(copies), tmp_path, "190MiB")
    row = next(row for row in rows if row["name"] == "no modules_to_save")
    assert row["predicted_peak"] < 170 * MIB, rows
    completes(COPIED.format(""), tmp_path, "190MiB")


def test_joined_predictions_are_growth_that_eval_accumulation_steps_ends(tmp_path: Path) -> None:
    rows, text = told(EVALUATED.format(""), tmp_path, "190MiB")
    assert "Live memory grows by" in text and "fragmented" not in text.replace("not fragmented", ""), text
    assert rows[0]["name"] == "eval_accumulation_steps", rows
    assert not any("half the" in row["name"] for row in rows)
    completes(EVALUATED.format("eval_accumulation_steps=1"), tmp_path, "190MiB")


def test_states_of_a_metric_are_named_with_its_class(tmp_path: Path) -> None:
    rows, text = told(METRIC.format(""), tmp_path, "260MiB")
    assert "a state of a BinaryAUROC" in text, text
    assert "compute_on_cpu=True" in rows[0]["change"] and "reset()" in rows[0]["change"], rows
    completes(METRIC.format("compute_on_cpu=True"), tmp_path, "260MiB")
