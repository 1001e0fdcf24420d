# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""transformers' GPT-2 trained with AdamW; torch itself records its memory in "history.pickle" in the current folder.

Usage: FILE KIND LENGTH. KIND: plain; checkpointed or reentrant (how a checkpoint runs its forward again). LENGTH: of a
sequence, in tokens; few of them put the peak into the update, many into the backward.
"""

import sys

import torch
from torch.utils.checkpoint import set_checkpoint_early_stop
from transformers import GPT2Config, GPT2LMHeadModel

kind, length = sys.argv[1], int(sys.argv[2])
torch.cuda.memory._record_memory_history(stacks="python")
config = GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=4000, n_positions=256, use_cache=False)
model = GPT2LMHeadModel(config).to("cuda")
if kind != "plain":
    model.gradient_checkpointing_enable({"use_reentrant": kind == "reentrant"})
    model.train()
    model.enable_input_require_grads()
optimizer = torch.optim.AdamW(model.parameters())
# torch loses the exception that stops early if it records stacks at that time.
with set_checkpoint_early_stop(False):
    for _ in range(3):
        tokens = torch.zeros(4, length, dtype=torch.long, device="cuda")
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del loss
torch.cuda.memory._dump_snapshot("history.pickle")
