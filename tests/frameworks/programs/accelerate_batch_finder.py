# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""accelerate's finder lowers the batch, but the training keeps its own error. With `--release` it lets go of it."""

import sys

import memtrace
import torch
from accelerate.utils.memory import find_executable_batch_size
from torch import nn


class Training:
    """Keeps the error that ended it, as trainers do to show it later."""

    def __init__(self) -> None:
        self.model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda()
        self.error: Exception | None = None

    def run(self, batch_size: int) -> None:
        activations = [torch.zeros(batch_size, 1024, 1024, device="cuda")]
        try:
            for layer in self.model:
                activations.append(layer(activations[-1]))
        except RuntimeError as error:
            self.error = error
            raise


training = Training()
batches = []


@find_executable_batch_size(starting_batch_size=16)
def train(batch_size: int) -> int:
    if "--release" in sys.argv:
        memtrace.release_failed_attempt()
    batches.append(batch_size)
    training.run(batch_size)
    return batch_size


found = train()
print(found, batches)
