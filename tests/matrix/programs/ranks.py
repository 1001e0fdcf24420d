# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""One step of DistributedDataParallel over NCCL; rank 0 prints its peak as one JSON line."""

import json
import os

import torch
from torch import distributed, nn

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
distributed.init_process_group("nccl")
model = nn.parallel.DistributedDataParallel(nn.Linear(1024, 1024).cuda(), device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(32, 1024, device="cuda")).sum().backward()
optimizer.step()
total = torch.full((1,), float(rank), device="cuda")
distributed.all_reduce(total)
torch.cuda.synchronize()
if rank == 0:
    print(json.dumps({"requested_bytes": torch.cuda.memory_stats()["requested_bytes.all.peak"]}))
distributed.destroy_process_group()
