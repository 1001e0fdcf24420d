# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A Trainer's data set has one sentence of a length that no other has (allennlp#2515)."""

import sys
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

LONG = 60 if "--mended" in sys.argv else 1_000


class Sentences(torch.utils.data.Dataset):
    """Sentences of some 50 tokens; one is long."""

    def __len__(self) -> int:
        return 1_600

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        if index >= len(self):
            raise IndexError(index)
        ids = torch.full((LONG if index == 1_244 else 40 + index % 13,), 1)
        return {"input_ids": ids, "labels": ids}


def padded(items: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Pads the sentences of a batch to its longest."""
    time.sleep(0.05)
    ids = torch.nn.utils.rnn.pad_sequence([item["input_ids"] for item in items], batch_first=True)
    return {"input_ids": ids, "labels": ids}


model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=512, n_head=8, vocab_size=30_000))
arguments = TrainingArguments(
    "late_output",
    per_device_train_batch_size=8,
    num_train_epochs=1,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
)
Trainer(model, arguments, train_dataset=Sentences(), data_collator=padded).train()  # runs out
