# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets `zero_grad(set_to_none=False)` release gradients instead of filling them with zeros."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._changes._change import Change
from memtrace._changes._program_line import program_line
from memtrace._patching import patches
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session


def watch(torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from now on to optimizers and modules, each of which counts once."""
    seen: IdentityMap[object, bool] = IdentityMap()
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        patches.put(
            owner,
            "zero_grad",
            _releasing(owner.zero_grad, change, seen),
            "torch.*.zero_grad: releases gradients, for the change set_to_none",
        )


def _releasing(
    original: Callable[..., object], change: Change, seen: IdentityMap[object, bool]
) -> Callable[..., object]:
    @functools.wraps(original)
    def zero_grad(owner: Any, set_to_none: bool = True) -> object:  # torch's own argument
        if set_to_none:
            return original(owner, set_to_none)
        if seen.get(owner) is None:
            seen.set(owner, True)
            change.found_and_made(type(owner).__name__, program_line())
        elif not change.only_looks:
            change.made_again()
        return original(owner, not change.only_looks)

    return zero_grad
