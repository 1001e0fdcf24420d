# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""transformers' GPT-2, built and run forward under the tag "policy", backward under none. Usage: FILE KIND.

KIND is how backward gets activations: plain, reentrant or other (checkpointing), graph (create_graph).
"""

import sys

import memtrace
import torch
from transformers import GPT2Config, GPT2LMHeadModel

kind = sys.argv[1]
config = GPT2Config(n_layer=3, n_embd=64, n_head=2, vocab_size=500, n_positions=64, use_cache=False)
config._attn_implementation = "eager" if kind == "graph" else "sdpa"  # the fused one has no second derivative
with torch.device("cuda"), memtrace.tag("policy"):
    model = GPT2LMHeadModel(config)
    tokens = torch.zeros(2, 64, dtype=torch.long)
if kind in ("reentrant", "other"):
    model.gradient_checkpointing_enable({"use_reentrant": kind == "reentrant"})
    model.train()
    model.enable_input_require_grads()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    with memtrace.tag("policy"):
        loss = model(input_ids=tokens, labels=tokens).loss
    if kind == "graph":
        gradients = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
        with memtrace.tag("policy"):
            penalty = sum(gradient.square().sum() for gradient in gradients)
        penalty.backward()
        del gradients, penalty
    else:
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del loss
