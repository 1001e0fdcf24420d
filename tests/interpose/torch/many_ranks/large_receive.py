# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""large_receive.py FILE MIB: rank 0 receives MIB MiB, then writes FILE; rank 1 sends 2 MiB once FILE is there."""

import sys
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from job_end import end

received, mib = Path(sys.argv[1]), int(sys.argv[2])
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
rank, device = dist.get_rank(), torch.device("cuda")
group = dist.group.WORLD
assert group is not None
limit = group._get_backend(device).options._timeout
dist.distributed_c10d._set_pg_timeout(timedelta(seconds=20), group)
later_limit = group._get_backend(device).options._timeout

pair = dist.new_group([0, 1])
answer = torch.tensor([0], device=device)
if rank == 0:
    dist.recv(answer, 1, group=pair)  # makes the communicator, for which both wait
    dist.recv(torch.empty(mib << 20, dtype=torch.int8, device=device), 1, group=pair)
    received.touch()
    dist.recv(answer, 1, group=pair)
else:
    dist.send(answer, 0, group=pair)
    while not received.exists():
        time.sleep(0.05)
    dist.send(torch.empty(2 << 20, dtype=torch.int8, device=device), 0, group=pair)
    dist.send(torch.tensor([7], device=device), 0, group=pair)
end(answer=answer.item(), limits=[limit.total_seconds(), later_limit.total_seconds()])
