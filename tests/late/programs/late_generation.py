# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A text that never ends is generated up to the limit of length (TensorFlowTTS#416)."""

import sys
import time

import torch
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(n_layer=8, n_embd=1024, n_head=16, vocab_size=8_000, n_positions=4096)
model = GPT2LMHeadModel(config).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [torch.ones(64, dtype=torch.long) for _ in range(1_600)]
limit = 64 if "--mended" in sys.argv else 3_000
for batch in DataLoader(data, batch_size=8):
    time.sleep(0.05)
    ids = batch.cuda()
    model(ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
prompts = torch.ones(16, 8, dtype=torch.long, device="cuda")
model.generate(prompts, max_new_tokens=limit, do_sample=False, pad_token_id=0)  # runs out
