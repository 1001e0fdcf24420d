# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A training loop that accelerate prepares with FSDP2, following its documentation."""

import os

import torch
from accelerate import Accelerator, FullyShardedDataParallelPlugin
from job_end import end
from tiny_gpt import LENGTH, VOCABULARY, Block, TinyGpt, loss_of

torch.manual_seed(0)
plugin = FullyShardedDataParallelPlugin(
    fsdp_version=2,
    auto_wrap_policy="transformer_based_wrap",
    transformer_cls_names_to_wrap=[Block.__name__],
    cpu_ram_efficient_loading=False,
)
accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2, fsdp_plugin=plugin)
model = TinyGpt()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
count = 17 * int(os.environ["WORLD_SIZE"]) + 2  # the last batches are smaller
texts = torch.utils.data.DataLoader(torch.randint(0, VOCABULARY, (count, LENGTH)), batch_size=4, shuffle=True)
model, optimizer, texts = accelerator.prepare(model, optimizer, texts)
for batch in texts:
    with accelerator.accumulate(model):
        loss = loss_of(model(batch), batch)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
losses = accelerator.gather_for_metrics(loss.detach())
accelerator.wait_for_everyone()
accelerator.print(f"loss of {losses.numel()} ranks: {losses.mean().item()}")
end()
