# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains GPT-2 for two steps, compiled by Triton: compiled_gpt2.py LAYERS. Prints what the last step held."""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main() -> None:
    layers = int(sys.argv[1])
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_layer=layers, use_cache=False)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    compiled = torch.compile(model)
    tokens = torch.randint(50257, (2, 128)).cuda()
    for _ in range(2):
        loss = compiled(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    print("peak", torch.cuda.max_memory_allocated())


if __name__ == "__main__":
    main()
