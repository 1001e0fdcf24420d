# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Each program of this folder prints the memory of its rank at its end, as a line of JSON."""

import json
import os
import sys

import torch


def end(**facts: object) -> None:
    """Prints the rank's memory and `facts` in one write, because the lines of several ranks would mix."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    memory = {
        "peak": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
        "used": total - free,  # with NCCL's
    }
    sys.stdout.flush()
    os.write(1, (json.dumps({"rank": int(os.environ["RANK"]), **memory, **facts}) + "\n").encode())
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
