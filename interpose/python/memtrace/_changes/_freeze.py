# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sets `requires_grad_(False)` on parameters that no optimizer steps, whose gradients and activations are useless."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes import _stepped
from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import before_training
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies at the first forward after an optimizer was made, to the parameters of each outermost module."""
    _Freezing(torch, change).watch(session)


class _Freezing:
    def __init__(self, torch: ModuleType, change: Change) -> None:
        self._torch = torch
        self._change = change
        self._stepped: set[int] = set()  # ids of the parameters that ever were in an optimizer
        self._roots: IdentityMap[Module, int] = IdentityMap()  # their number when the module was looked at
        self._frozen: set[int] = set()

    def watch(self, session: Session) -> None:
        _stepped.on_group_added(self._torch, self._unfreeze_stepped)
        before_training(self._torch, session, self._freeze)

    def _unfreeze_stepped(self, tensors: list[Tensor]) -> None:
        """Unfreezes parameters of an optimizer made late. Copies that belong to no module (fp32) do not count."""
        self._stepped.update(id(tensor) for tensor in tensors if isinstance(tensor, self._torch.nn.Parameter))
        for tensor in tensors:
            if id(tensor) in self._frozen:
                self._frozen.remove(id(tensor))
                tensor.requires_grad_(True)
                self._change.made(-1)

    def _freeze(self, root: Module) -> None:
        if not self._stepped or self._roots.get(root) == len(self._stepped):
            return
        self._roots.set(root, len(self._stepped))
        for name, parameter in root.named_parameters():
            is_useless = parameter.requires_grad and id(parameter) not in self._stepped
            if is_useless and self._change.found_and_made(type(root).__name__, name):
                parameter.requires_grad_(False)
                self._frozen.add(id(parameter))
