# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes optimizers by the names of `--optimizer`, with their libraries' own defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtrace._estimate.problem import package

if TYPE_CHECKING:
    from torch.nn import Module
    from torch.optim import Optimizer

# The learning rate. Nothing is learnt, but it must not be 0.
_RATE = 1e-5


def make(name: str, model: Module) -> Optimizer:
    """Makes the optimizer of the trained parameters of `model`. Raises ProblemError if its library is missing."""
    import torch

    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if name == "adamw-8bit":
        return package("bitsandbytes", "--optimizer adamw-8bit").optim.AdamW8bit(trained, lr=_RATE)
    if name == "adafactor":  # like transformers' Trainer
        adafactor = package("transformers", "--optimizer adafactor").Adafactor
        return adafactor(trained, lr=_RATE, scale_parameter=False, relative_step=False)
    if name == "adamw-fused":
        return torch.optim.AdamW(trained, lr=_RATE, fused=True)
    return {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "sgd": torch.optim.SGD}[name](trained, lr=_RATE)
