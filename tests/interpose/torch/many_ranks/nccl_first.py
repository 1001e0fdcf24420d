# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""NCCL makes its communicator before torch's allocator is asked for anything."""

import os

import torch
import torch.distributed as dist
from job_end import end

card = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl", device_id=card)
summed = torch.zeros(1 << 20, device=card)
dist.all_reduce(summed)
end()
