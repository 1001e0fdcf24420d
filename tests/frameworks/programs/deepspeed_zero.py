# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's engine with ZeRO on one rank, following its documentation."""

import sys

import deepspeed
from figures import Sentences, on_card, small_gpt2, tell

model = small_gpt2()
deepspeed.init_distributed(dist_backend="nccl")
engine, optimizer, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=model.parameters(),
    training_data=Sentences(),
    config={
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 1,
        "bf16": {"enabled": True, "check_grad_overflow": False},
        # DeepSpeed's own Adam is compiled by nvcc at first use.
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}},
        "zero_optimization": {"stage": int(sys.argv[1])},
    },
)
for batch in loader:
    batch = {name: tensor.to(engine.device) for name, tensor in batch.items()}
    loss = engine(**batch).loss
    engine.backward(loss)
    engine.step()

numbers = sum(p.numel() for p in model.parameters())
tell(parameters=on_card(model.parameters()), numbers=numbers)
