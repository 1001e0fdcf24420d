# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The output of programs with a fit callback: estimates, warnings, and the memory of the training itself."""

import json
import os
import sys
import warnings

import torch
from memtrace import Estimate
from memtrace._estimate import experiment

_warned: list[str] = []


def watch_estimates() -> list[Estimate]:
    """Returns a list that gets each later estimate of a callback."""
    found: list[Estimate] = []
    run = experiment.run

    def noting(*arguments: object) -> Estimate:
        found.append(run(*arguments))
        return found[-1]

    experiment.run = noting
    show = warnings.showwarning

    def note(message: object, *others: object, **named: object) -> None:
        _warned.append(str(message))
        show(message, *others, **named)

    warnings.showwarning = note
    return found


def tell_beside(found: list[Estimate], **figures: object) -> None:
    """Prints one JSON line."""
    own = {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}
    estimates = [{"allocated": one.peak_allocated, "reserved": one.peak_reserved, "fits": one.fits} for one in found]
    sys.stdout.flush()
    told = {"own": own, "estimates": estimates, "warned": [text for text in _warned if "memtrace" in text], **figures}
    os.write(1, f"{json.dumps(told)}\n".encode())
