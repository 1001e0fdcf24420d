# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the activations of the first K of the repeated blocks, or of all, in the host until backward.

`activations_on_host[=K]` is torch's `save_on_cpu(pin_memory=True)` around each block, but parameters stay on the card.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._blocks import change_first
from memtrace._changes._change import Change
from memtrace._changes._host_copies import HostCopies
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies before the first training forward of each outermost module."""

    def apply(_root: Module, blocks: list[Module]) -> bool:
        for block in blocks:
            block.forward = _offloaded(torch, block, block.forward)
        return True

    change_first(torch, session, change, apply)


def _offloaded(torch: ModuleType, block: Module, forward: Callable[..., object]) -> Callable[..., object]:
    saved_tensors_hooks = importlib.import_module("torch.autograd.graph").saved_tensors_hooks

    @functools.wraps(forward)
    def offloaded(*args: object, **kwargs: object) -> object:
        if not (block.training and torch.is_grad_enabled()) or torch.cuda.is_current_stream_capturing():
            return forward(*args, **kwargs)
        copies = HostCopies(torch, block)
        with saved_tensors_hooks(copies.put_away, copies.fetch):
            return forward(*args, **kwargs)

    return offloaded
