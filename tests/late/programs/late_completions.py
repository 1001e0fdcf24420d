# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Completions become longer as the policy learns, and the logits grow with them (trl#3678)."""

import sys
import time

import torch
from torch import nn

VOCABULARY = 150_000
body = nn.Sequential(nn.Embedding(VOCABULARY, 256), nn.Linear(256, 256)).cuda()
head = nn.Linear(256, VOCABULARY).cuda()
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
longest = 64 if "--mended" in sys.argv else 1_024
for step in range(240):
    time.sleep(0.05)
    length = min(32 * 2 ** (step // 40), longest)
    completions = torch.zeros(4, length, dtype=torch.long, device="cuda")
    logits = head(body(completions))
    logits.logsumexp(-1).mean().backward()  # runs out
    optimizer.step()
    optimizer.zero_grad()
    del logits
