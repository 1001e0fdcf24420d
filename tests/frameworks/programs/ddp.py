# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel for torchrun with the named backend, following torch's tutorial.
Each rank prints its figures."""

import os
import sys

import torch
import torch.distributed as dist
from figures import Sentences, on_card, small_gpt2, states, tell
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group(sys.argv[1])

model = DistributedDataParallel(small_gpt2().to(rank), device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
data = Sentences()
sampler = torch.utils.data.distributed.DistributedSampler(data)
for batch in torch.utils.data.DataLoader(data, batch_size=4, sampler=sampler):
    optimizer.zero_grad()
    loss = model(**{name: tensor.to(rank) for name, tensor in batch.items()}).loss
    loss.backward()
    optimizer.step()

tell(rank=rank, parameters=on_card(model.parameters()), states=states(optimizer))
dist.destroy_process_group()
