# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's pipeline of 2 stages with ZeRO 1 over 2 ranks each, as its documentation writes it."""

import os

import deepspeed
import torch
from deepspeed.pipe import PipelineModule
from job_end import end
from tiny_gpt import VOCABULARY, WIDTH, Block, loss_of
from torch import nn


class Texts(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Random tokens that are also the labels."""

    def __init__(self) -> None:
        count = 64 * int(os.environ["WORLD_SIZE"])
        self._texts = torch.randint(0, VOCABULARY, (count, 128), generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self._texts[index], self._texts[index]


deepspeed.init_distributed(dist_backend="nccl")
layers = [nn.Embedding(VOCABULARY, WIDTH), *[Block() for _ in range(4)], nn.Linear(WIDTH, VOCABULARY, bias=False)]
model = PipelineModule(layers=layers, num_stages=2, loss_fn=loss_of)
engine, *_ = deepspeed.initialize(
    model=model,
    model_parameters=[weight for weight in model.parameters() if weight.requires_grad],
    training_data=Texts(),
    config={
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 4,
        "bf16": {"enabled": True},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}},
        "zero_optimization": {"stage": 1, "reduce_bucket_size": 500_000, "allgather_bucket_size": 500_000},
    },
)
for _ in range(3):
    engine.train_batch()
end(stage=engine.stage_id)
