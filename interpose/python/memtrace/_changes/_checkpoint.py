# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Gradient checkpointing: by the model's own switch if it has one, else around its repeated blocks."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import before_training
from memtrace._identity_map import IdentityMap
from memtrace._session import Session

if TYPE_CHECKING:
    from torch.nn import Module


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies before the first training forward of each outermost module."""
    looked_at: IdentityMap[Module, bool] = IdentityMap()

    def change_root(root: Module) -> None:
        if root.training and not looked_at.get(root):
            looked_at.set(root, True)
            change.made(_switch_on(root) if _has_switch(root) else _wrap_blocks(torch, root))

    before_training(torch, session, change_root)


def _checkpointing_switches(root: Module) -> list[Module]:
    """Returns the outermost models with a checkpointing switch of transformers or diffusers."""
    found: list[Module] = []
    waiting = [root]
    while waiting:
        module = waiting.pop()
        if _checkpointing_switch(module) is not None:
            found.append(module)
        else:
            waiting += module.children()
    return found


def _has_switch(root: Module) -> bool:
    return bool(_checkpointing_switches(root))


def _checkpointing_switch(module: Module) -> Callable[[], object] | None:
    if getattr(module, "supports_gradient_checkpointing", False):
        enable = getattr(module, "gradient_checkpointing_enable", None)
        return enable and functools.partial(enable, gradient_checkpointing_kwargs={"use_reentrant": False})
    if getattr(module, "_supports_gradient_checkpointing", False):
        return getattr(module, "enable_gradient_checkpointing", None)
    return None


def _checkpointed(module: Module) -> int:
    return sum(bool(getattr(part, "gradient_checkpointing", False)) for part in module.modules())


def _switch_on(root: Module) -> int:
    """Returns the number of parts that checkpoint now and did not before."""
    made = 0
    for module in _checkpointing_switches(root):
        before = _checkpointed(module)
        if before == 0:
            _checkpointing_switch(module)()  # type: ignore[misc]  # each of these has one
            made += _checkpointed(module)
    return made


def _wrap_blocks(torch: ModuleType, root: Module) -> int:
    checkpoint = importlib.import_module("torch.utils.checkpoint").checkpoint
    blocks = _repeated_blocks(torch, root)
    for block in blocks:
        block.forward = _recomputed(torch, checkpoint, block, block.forward)
    return len(blocks)


def _repeated_blocks(torch: ModuleType, root: Module) -> list[Module]:
    """Returns the blocks of the longest list of equal ones, and those of the same class in other lists."""
    lists = [
        list(part)
        for part in root.modules()
        if isinstance(part, (torch.nn.ModuleList, torch.nn.Sequential)) and len({type(block) for block in part}) == 1
    ]
    # Blocks of a single operation are left out, because that only saves what checkpointing also keeps.
    lists = [blocks for blocks in lists if next(blocks[0].children(), None) is not None]
    longest: list[Module] = max(lists, key=len, default=[])
    if len(longest) < 2:
        return []
    return [block for blocks in lists for block in blocks if type(block) is type(longest[0])]


def _recomputed(
    torch: ModuleType, checkpoint: Callable[..., object], block: Module, forward: Callable[..., object]
) -> Callable[..., object]:
    @functools.wraps(forward)
    def recomputed(*args: object, **kwargs: object) -> object:
        if not (block.training and torch.is_grad_enabled()):
            return forward(*args, **kwargs)
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    return recomputed
