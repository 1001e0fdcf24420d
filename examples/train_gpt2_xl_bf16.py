# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The same training in bf16: parameters, gradients and optimizer states take half as much, and three steps fit."""

import torch
from train_gpt2_xl import train

if __name__ == "__main__":
    train(torch.bfloat16, steps=3)
    peak = torch.cuda.max_memory_allocated() / 2**30
    print(f"Three steps are done. The peak of allocated memory is {peak:.2f} GiB.")
