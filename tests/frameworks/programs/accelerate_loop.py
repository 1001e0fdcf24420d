# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A training loop prepared by accelerate with bf16 autocast, following its documentation."""

import torch
from accelerate import Accelerator
from figures import Sentences, on_card, small_gpt2, states, tell

accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
model = small_gpt2()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loader = torch.utils.data.DataLoader(Sentences(), batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

model.train()
for batch in loader:
    with accelerator.accumulate(model):
        loss = model(**batch).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

tell(parameters=on_card(model.parameters()), states=states(optimizer.optimizer))
