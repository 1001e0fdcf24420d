# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Uses tensors made on one stream on another: how much record_stream keeps alive depends on when work is done."""

import sys

import torch

STEPS = 8
BYTES = 64 << 20

side = torch.cuda.Stream()
for _ in range(STEPS):
    batch = torch.empty(BYTES, dtype=torch.uint8, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        batch.add_(1)
    batch.record_stream(side)
    del batch
    if "--wait" in sys.argv:
        torch.cuda.synchronize()
print("RESERVED", torch.cuda.max_memory_reserved() >> 20, flush=True)
