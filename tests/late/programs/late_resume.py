# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Resuming loads the optimizer onto the card, and keeps what was loaded (transformers#22123)."""

import sys
import time

import torch
from torch import nn

FILE = "late_resume.pt"
model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
if "--resume" in sys.argv:
    place = "cpu" if "--mended" in sys.argv else "cuda"
    loaded = torch.load(sys.argv[sys.argv.index("--resume") + 1], map_location=place)
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
for _ in range(200):
    time.sleep(0.05)
    model(torch.zeros(256, 2048, device="cuda")).sum().backward()  # runs out
    optimizer.step()
    optimizer.zero_grad()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, FILE)
