# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""One communicator of all ranks, with a small and a large sum."""

import os

import torch
import torch.distributed as dist
from job_end import end

card = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(card)
dist.init_process_group("nccl", device_id=torch.device("cuda", card))
numbers = torch.ones(8 << 20, device="cuda")
dist.all_reduce(numbers[:256])
dist.all_reduce(numbers)
end()
