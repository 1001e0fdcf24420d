# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Computes logits and their cross entropy in N pieces of the tokens: `pieces[=N]`, 8 without a number.

The head returns logits that are computed only when they are read (_lazy_logits.py). Cross entropy of them computes one
piece at a time, in forward and again in backward (_loss_in_pieces.py), so that they never exist as a whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._change import Change
from memtrace._changes._lazy_logits import lazy_class
from memtrace._changes._outermost_calls import before_training
from memtrace._changes._recipe import Head
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Linear, Module

_PIECES = 8
_LEAST_WORDS = 1024  # of a vocabulary


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies to heads of language models, before the first training forward of each outermost module.

    A place is a head whose cross entropy was computed in pieces.
    """
    pieces = change.degree(_PIECES) or 0
    looked_at: IdentityMap[Module, bool] = IdentityMap()
    lazy = lazy_class(torch, pieces)

    def change_root(root: Module) -> None:
        if not root.training or looked_at.get(root):
            return
        looked_at.set(root, True)
        for path, head in _heads(torch, root):
            change.found(1, type(head).__name__, path)
            if pieces > 1:
                head.forward = _lazily(torch, lazy, head, change)

    before_training(torch, session, change_root)


def _heads(torch: ModuleType, root: Module) -> Iterator[tuple[str, Linear]]:
    """Yields linear layers with as many outputs as an embedding has words, if their weights are whole on this card."""
    words = {part.num_embeddings for part in root.modules() if isinstance(part, torch.nn.Embedding)}
    is_sharded = any(base.__name__.startswith(("FSDP", "FullySharded")) for base in map(type, root.modules()))
    for path, part in root.named_modules():
        if type(part) is not torch.nn.Linear or part.out_features not in words or part.out_features < _LEAST_WORDS:
            continue
        is_plain = type(part.weight) is torch.nn.Parameter and not hasattr(part.weight, "ds_id")
        if is_plain and not is_sharded:
            yield path, part


def _lazily(torch: ModuleType, lazy: type, head: Linear, change: Change) -> Callable[[Tensor], Tensor]:
    original = head.forward
    is_known = False

    def made() -> None:
        nonlocal is_known
        if not is_known:
            is_known = True
            change.made()

    @functools.wraps(original)
    def forward(hidden: Tensor) -> Tensor:
        if not (head.training and torch.is_grad_enabled()) or torch.compiler.is_compiling():
            return original(hidden)
        of_head = Head(torch, original, head.weight, head.bias, hidden, made)
        return of_head.logits(lazy) if of_head.is_recorded else original(hidden)

    return forward
