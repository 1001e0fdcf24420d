# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""LoRA adapters added to a model that has already run, as in a notebook, and trained by a plain loop."""

import torch
from figures import Sentences, on_card, small_gpt2, states, tell
from peft import LoraConfig, get_peft_model

model = small_gpt2().to("cuda")
ids = torch.stack([Sentences()[i]["input_ids"] for i in range(4)]).cuda()
with torch.no_grad():
    model(input_ids=ids)

model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=16, lora_alpha=32, target_modules=["c_attn"]))
model.train()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
for _ in range(3):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

trainable = on_card(p for p in model.parameters() if p.requires_grad)
tell(parameters=on_card(model.parameters()), trainable=trainable, states=states(optimizer))
