# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains GPT-2 XL (1,557,611,200 parameters, fp32, AdamW) for one step on one sequence of 1,024 tokens.

The model is transformers' own, built on the card with random weights: nothing is downloaded.
"""

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def train(fused: bool = False) -> None:
    config = GPT2Config(n_embd=1600, n_layer=48, n_head=25)
    with torch.device("cuda"):
        model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused or None)
    tokens = torch.randint(config.vocab_size, (1, 1024), device="cuda")
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    train()
