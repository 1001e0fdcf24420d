# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""transformers' Trainer with its option fsdp, which shards by FSDP through accelerate."""

import os
import sys

import torch
from job_end import end
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Random tokens of different lengths, as a tokenizer pads them."""

    def __len__(self) -> int:
        return 12 * int(os.environ["WORLD_SIZE"])

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        ids = torch.randint(0, 1000, (128,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}


config = LlamaConfig(
    hidden_size=256, intermediate_size=688, num_hidden_layers=4, num_attention_heads=8, vocab_size=1003, use_cache=False
)
options = TrainingArguments(
    output_dir=sys.argv[1],
    per_device_train_batch_size=4,
    per_device_eval_batch_size=4,
    num_train_epochs=1,
    logging_steps=1,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    bf16=True,
    disable_tqdm=True,
    fsdp="full_shard auto_wrap",
    fsdp_config={"transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"]},
)
trainer = Trainer(model=LlamaForCausalLM(config), args=options, train_dataset=Texts(), eval_dataset=Texts())
trainer.train()
end()
