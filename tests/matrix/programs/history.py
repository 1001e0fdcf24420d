# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Records torch's own history of some work and dumps it: history.py FILE."""

import sys

import torch

torch.cuda.memory._record_memory_history(max_entries=1000)
kept = [torch.zeros(1 << 18, device="cuda") for _ in range(4)]
del kept[1]
torch.cuda.memory._dump_snapshot(sys.argv[1])
