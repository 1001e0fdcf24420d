# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Each program of this folder prints the memory of its rank at its end, as a line of JSON."""

import json
import sys

import torch
import torch.distributed as dist


def end(**facts: object) -> None:
    """Prints the rank's memory and `facts` at once, where print makes two writes, and leaves the job."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    memory = {
        "peak": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
        "used": total - free,  # with NCCL's
    }
    sys.stdout.write(json.dumps({"rank": dist.get_rank(), **memory, **facts}) + "\n")
    sys.stdout.flush()
    dist.destroy_process_group()
