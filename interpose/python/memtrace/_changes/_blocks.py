# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The repeated blocks of a model, the first of which a change of some degree applies to."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import before_training
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module


class Block(NamedTuple):
    """A block, and its path in the outermost module."""

    path: str
    module: Module


def change_first(
    torch: ModuleType, session: Session, change: Change, apply: Callable[[Module, list[Module]], bool]
) -> None:
    """Calls `apply` with an outermost module and the blocks to change, before its first training forward.

    They are the first ones of the module, as many as the change's degree has left; all of them without a degree.
    `apply` returns false if it changed none of them.
    """
    looked_at: IdentityMap[Module, bool] = IdentityMap()

    def change_root(root: Module) -> None:
        if root.training and not looked_at.get(root):
            looked_at.set(root, True)
            chosen = first_blocks(change, repeated_blocks(torch, root))
            if chosen and apply(root, [block.module for block in chosen]):
                change.made(len(chosen))

    before_training(torch, session, change_root)


def first_blocks(change: Change, blocks: list[Block]) -> list[Block]:
    """Notes that these could be changed. Returns the first ones, as many as the degree has left."""
    if blocks:
        change.found(len(blocks), type(blocks[0].module).__name__, blocks[0].path)
    degree = change.degree()
    return blocks if degree is None else blocks[: max(0, degree - change.places)]


def repeated_blocks(torch: ModuleType, root: Module) -> list[Block]:
    """Returns the layers that transformers can checkpoint, else the most blocks of one class in one list.

    With the latter come blocks of the same class in other lists. A list may have other modules as well, such as an
    embedding before its blocks and a head behind them.
    """
    paths = {id(module): path for path, module in root.named_modules()}
    layers = [module for module in root.modules() if is_checkpointing_layer(module)]
    return [Block(paths[id(module)], module) for module in layers or _listed_blocks(torch, root)]


def is_checkpointing_layer(module: Module) -> bool:
    """True for layers of transformers that have a switch of their own."""
    return any(base.__name__ == "GradientCheckpointingLayer" for base in type(module).__mro__)


def _listed_blocks(torch: ModuleType, root: Module) -> list[Module]:
    lists = [part for part in root.modules() if isinstance(part, (torch.nn.ModuleList, torch.nn.Sequential))]
    groups = [blocks for part in lists for blocks in _blocks_by_class(part)]
    longest: list[Module] = max(groups, key=len, default=[])
    if len(longest) < 2:
        return []
    found = [block for blocks in groups for block in blocks if type(block) is type(longest[0])]
    return list({id(block): block for block in found}.values())


def _blocks_by_class(part: Module) -> list[list[Module]]:
    """Returns the list's blocks by class, without modules of a single operation: all they save, checkpointing keeps."""
    groups: dict[type, list[Module]] = {}
    for block in part.children():
        if next(block.children(), None) is not None:
            groups.setdefault(type(block), []).append(block)
    return list(groups.values())
