# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Liger's kernels, which `fit` tries where they are installed: a Trainer's argument, and models without a Trainer."""

from pathlib import Path

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from support.fit_changes import Changed, changed
from support.programs import on_card

pytestmark = needs_frameworks

MODEL = """
import json, torch
from transformers import {config}, {model}, Trainer, TrainingArguments
sizes = {config}(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=4, head_dim=64, vocab_size=32000)
model = {model}(sizes).to(torch.bfloat16)
"""
TRAINER = """
data = [{"input_ids": torch.full((512,), i), "labels": torch.full((512,), i)} for i in range(32)]
quiet = {"report_to": [], "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True}
args = TrainingArguments("out", per_device_train_batch_size=8, max_steps=2, **quiet)
Trainer(model=model, args=args, train_dataset=data).train()
print(json.dumps(torch.cuda.max_memory_allocated()))
"""
LOOP = """
model = model.cuda()
tokens = torch.zeros(8, 512, dtype=torch.int64, device="cuda")
for _ in range(2):
    model(input_ids=tokens, labels=tokens).loss.backward()
    model.zero_grad()
print(json.dumps(torch.cuda.max_memory_allocated()))
"""
LLAMA = MODEL.format(config="LlamaConfig", model="LlamaForCausalLM")
# Liger 0.8.5 has no kernels for it.
HELIUM = MODEL.format(config="HeliumConfig", model="HeliumForCausalLM")
LOGITS = 8 * 512 * 32000 * 2  # bytes of the numbers for each word, in 16 bits


def run(script: str, folder: Path, change: str) -> tuple[int, Changed | None]:
    offline = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    done = on_card(script, folder, python=PYTHON, MEMTRACE_FIT_CHANGES=change, **offline)
    assert "memtrace: " not in done.err, done.err
    return done.printed(), changed(done.trace, "liger")


@pytest.mark.parametrize(("script", "first"), [(LLAMA + TRAINER, "a line"), (LLAMA + LOOP, "a path")])
def test_logits_of_a_llama_never_exist_as_a_whole(tmp_path, script, first):
    unchanged, _ = run(script, tmp_path, "")
    looked, found = run(script, tmp_path, "liger=0")
    assert looked == unchanged and found is not None
    assert (found.places, found.of, found.target) == (0, 1, "LlamaForCausalLM")
    assert (":" in found.first) == (first == "a line"), found.first
    peak, made = run(script, tmp_path, "liger")
    assert made is not None and (made.places, made.of, made.target) == (1, 1, "LlamaForCausalLM")
    # Without it the logits, their copy in 32 bits and its gradient are there at the peak.
    assert unchanged - peak > 3 * LOGITS


@pytest.mark.parametrize("script", [HELIUM + TRAINER, HELIUM + LOOP])
def test_model_that_liger_does_not_know_has_no_place(tmp_path, script):
    unchanged, _ = run(script, tmp_path, "")
    for change in ("liger=0", "liger"):
        peak, found = run(script, tmp_path, change)
        assert peak == unchanged and found is not None and (found.places, found.of) == (0, 0)


def test_model_that_has_the_kernels_has_no_place(tmp_path):
    script = (LLAMA + TRAINER).replace("max_steps=2", "max_steps=2, use_liger_kernel=True")
    _, found = run(script, tmp_path, "liger=0")
    assert found is not None and (found.places, found.of) == (0, 0)
