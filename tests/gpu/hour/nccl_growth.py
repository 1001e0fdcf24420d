# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the card memory that communicators of one rank take, by NCCL's options, as JSON, in bytes.

Usage: nccl_growth.py >FILE. Run it while nothing else uses the card. Each set of options is a process of its own, which
makes and uses a group, then a second and a third.
"""

import json
import os
import subprocess
import sys

import torch
import torch.distributed as dist
from context_growth import beside_torch

OPTIONS: tuple[dict[str, str], ...] = (
    {},
    {"NCCL_CUMEM_ENABLE": "0"},
    {"NCCL_BUFFSIZE": "1048576"},
    {"NCCL_MAX_NCHANNELS": "2", "NCCL_MAX_CTAS": "2"},
    {"NCCL_NVLS_ENABLE": "0"},
    {"NCCL_LAUNCH_ORDER_IMPLICIT": "0"},
)


def grow() -> dict[str, int]:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29512", "RANK": "0", "WORLD_SIZE": "1"}
    tensor = torch.ones(1 << 20, device="cuda")
    tensor.add_(1).sum().item()
    found = {"before": beside_torch()}
    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    found["made"] = beside_torch()
    dist.all_reduce(tensor)
    found["reduced"] = beside_torch()
    dist.all_gather_into_tensor(torch.empty_like(tensor), tensor)
    found["gathered"] = beside_torch()
    for name in ("second", "third"):
        group = dist.new_group([0])
        dist.all_reduce(tensor, group=group)
        found[name] = beside_torch()
    return found


def main() -> None:
    if len(sys.argv) > 1:
        json.dump(grow(), sys.stdout)
        return
    rows = []
    for options in OPTIONS:
        command = [sys.executable, __file__, "grow"]
        done = subprocess.run(
            command, env={**os.environ, **options}, capture_output=True, text=True, timeout=60, check=False
        )
        rows.append(
            {"options": options, "found": json.loads(done.stdout) if done.returncode == 0 else done.stderr[-300:]}
        )
    json.dump({"nccl": list(torch.cuda.nccl.version()), "rows": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
