# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains GPT-2 XL (1,557,611,200 parameters, fp32, AdamW) for one step on one sequence of 1,024 tokens.

The model is transformers' own, built on the card with random weights: nothing is downloaded.
"""

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def train(dtype: torch.dtype = torch.float32, steps: int = 1) -> None:
    config = GPT2Config(n_embd=1600, n_layer=48, n_head=25)
    with torch.device("cuda"):
        model = GPT2LMHeadModel(config).to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(config.vocab_size, (1, 1024), device="cuda")
    for _ in range(steps):
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    train()
