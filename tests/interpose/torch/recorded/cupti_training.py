# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Four steps of a small model; memory kept by the second is never written again. The last line lists the launches.

`cupti_training.py profile`: torch.profiler watches the third step. `cupti_training.py kill`: the process kills itself
in the fourth. `cupti_training.py fail`: an out-of-memory ends the fourth, and is caught.
"""

import collections
import json
import os
import signal
import sys

import torch

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
KEPT_BYTES = 64 << 20


def profiled(work):
    """Returns the kernels, copies and fills that torch.profiler saw of `work`, and how often."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        work()
        torch.cuda.synchronize()
    cuda = torch.autograd.DeviceType.CUDA
    return collections.Counter(event.name for event in profiler.events() if event.device_type == cuda)


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    inputs = torch.randn(64, 256, device="cuda")
    kept = []
    seen = {}

    def step():
        model(inputs).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for number in range(1, 5):
        if number == 2:
            kept.append(torch.zeros(KEPT_BYTES, dtype=torch.uint8, device="cuda"))
        if number == 4 and MODE == "kill":
            torch.cuda.synchronize()
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 4 and MODE == "fail":
            try:
                torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
            except torch.OutOfMemoryError:
                break
        if number == 3 and MODE == "profile":
            seen = profiled(step)
        else:
            step()
        # The highest point of the last step is above those before it.
        if number == 3:
            kept.append(torch.zeros(1 << 20, dtype=torch.uint8, device="cuda"))
    print(json.dumps(seen))


main()
