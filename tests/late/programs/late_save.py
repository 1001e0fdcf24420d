# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The final save makes a full copy of the model in fp32 on the card (stanford_alpaca#65)."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(16)]).to(torch.bfloat16).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [torch.zeros(4096) for _ in range(3_200)]
for batch in DataLoader(data, batch_size=16):
    time.sleep(0.05)
    model(batch.cuda().bfloat16()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
if "--mended" in sys.argv:
    state = {name: value.cpu().float() for name, value in model.state_dict().items()}
else:
    state = {name: value.float() for name, value in model.state_dict().items()}  # runs out
torch.save(state, "final.pt")
