# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates the memory of a training with memtrace; prints the peak as one JSON line."""

import json

import memtrace
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512))
optimizer = torch.optim.AdamW(model.parameters())
answer = memtrace.estimate(model, optimizer, torch.zeros(64, 512), card="24GiB")
print(json.dumps({"fits": answer.fits, "peak": answer.peak_allocated}))
