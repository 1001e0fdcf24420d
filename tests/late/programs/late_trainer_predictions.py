# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trainer keeps the logits of all batches of an evaluation on the card (transformers#8476)."""

import sys
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Samples(torch.utils.data.Dataset):
    """Samples of one length."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        if index >= self.count:
            raise IndexError(index)
        time.sleep(0.005)
        ids = torch.full((128,), 1)
        return {"input_ids": ids, "labels": ids}


model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=256, n_head=4, vocab_size=30_000))
arguments = TrainingArguments(
    "late_output",
    per_device_train_batch_size=8,
    per_device_eval_batch_size=8,
    num_train_epochs=1,
    eval_strategy="epoch",
    save_strategy="no",
    eval_accumulation_steps=1 if "--mended" in sys.argv else None,
    report_to=[],
    disable_tqdm=True,
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=Samples(1_600),
    eval_dataset=Samples(320),
    compute_metrics=lambda predictions: {"samples": len(predictions.label_ids)},
)
trainer.train()  # runs out
