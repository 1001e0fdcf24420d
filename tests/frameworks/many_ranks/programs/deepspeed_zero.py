# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's engine with ZeRO, as its documentation writes it. Usage: deepspeed_zero.py 1|2|3."""

import sys

import deepspeed
from job_end import end
from tiny_gpt import TinyGpt, loss_of, tokens

deepspeed.init_distributed(dist_backend="nccl")
with deepspeed.zero.Init(enabled=sys.argv[1] == "3"):
    model = TinyGpt()
engine, *_ = deepspeed.initialize(
    model=model,
    model_parameters=model.parameters(),
    config={
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2,
        "gradient_clipping": 1.0,
        "bf16": {"enabled": True},
        # DeepSpeed's own Adam is compiled by nvcc at first use.
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}},
        "zero_optimization": {"stage": int(sys.argv[1]), "reduce_bucket_size": 500_000},
    },
)
for _ in range(4):
    batch = tokens()
    engine.backward(loss_of(engine(batch), batch))
    engine.step()
end()
