# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes parameters bf16, like `model.to(torch.bfloat16)`, whenever the program brings a model to the card."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes import _bf16_inputs
from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import before_training
from memtrace._patching import patches
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Makes bf16 of the fp32 parameters and buffers of modules, once they are on a card.

    They get there in three ways: made on the card (registered there), moved (`Module._apply`), or placed otherwise
    (seen at the first forward of the outermost module). Float inputs of outermost modules with such parameters also
    become bf16.
    """
    halving = _Halving(torch, change)
    if change.only_looks:
        before_training(torch, session, halving.count)
        return
    halving.watch_registration()
    halving.watch_moves()
    _bf16_inputs.watch(torch, session, halving.root)


class _Halving:
    def __init__(self, torch: ModuleType, change: Change) -> None:
        self._torch = torch
        self._change = change
        self._roots: IdentityMap[Module, bool] = IdentityMap()  # True if they have bf16 parameters

    def watch_registration(self) -> None:
        """Registers before the hooks that label memory, which must see the memory that stays."""
        modules = self._torch.nn.modules.module
        for kind in ("parameter", "buffer"):
            handle = getattr(modules, f"register_module_{kind}_registration_hook")(self._registered)
            getattr(modules, f"_global_{kind}_registration_hooks").move_to_end(handle.id, last=False)

    def _registered(self, _module: Module, _name: str, tensor: Tensor) -> None:
        self._halve(tensor)

    def watch_moves(self) -> None:
        """Halves tensors as they move, so that no fp32 reaches the card."""
        module_class = self._torch.nn.Module
        original = module_class._apply

        @functools.wraps(original)
        def apply(module: Module, function: Callable[[Tensor], Tensor], *args: object, **kwargs: object) -> object:
            return original(module, self._halving(function), *args, **kwargs)

        patches.put(
            module_class,
            "_apply",
            apply,
            "torch.nn.Module._apply: halves parameters as they move to the card, for the change bf16",
        )

    def _halving(self, function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        if hasattr(function, "is_halving"):  # called for a part
            return function

        def move(tensor: Tensor) -> Tensor:
            if not self._is_plain_float(tensor) or not function(tensor.new_empty(0)).is_cuda:
                return function(tensor)
            self._count(tensor)
            moved = function(tensor.to(self._torch.bfloat16))
            return moved.to(self._torch.bfloat16) if moved.dtype is self._torch.float32 else moved

        move.is_halving = True  # type: ignore[attr-defined]
        return move

    def count(self, module: Module) -> None:
        """Counts the parameters of an outermost module that could be bf16."""
        if self._roots.get(module) is None:
            self._roots.set(module, False)
            fitting = [p for p in module.parameters() if self._is_plain_float(p) and p.is_cuda]
            self._change.found(len(fitting), "Parameter")

    def root(self, module: Module) -> bool:
        """Makes bf16 of an outermost module's tensors on a card. True if it has bf16 parameters."""
        known = self._roots.get(module)
        if known is None:
            for tensor in (*module.parameters(), *module.buffers()):
                self._halve(tensor)
            known = any(p.dtype is self._torch.bfloat16 for p in module.parameters())
            self._roots.set(module, known)
        return known

    def _halve(self, tensor: Tensor) -> None:
        if self._is_plain_float(tensor) and tensor.is_cuda:
            self._count(tensor)
            tensor.data = tensor.data.to(self._torch.bfloat16)

    def _is_plain_float(self, tensor: Tensor) -> bool:
        """True for plain fp32 tensors. Other classes (sharded, quantized, flat) are changed in other ways."""
        plain = type(tensor) in (self._torch.Tensor, self._torch.nn.Parameter)
        return plain and tensor.dtype is self._torch.float32

    def _count(self, tensor: Tensor) -> None:
        if isinstance(tensor, self._torch.nn.Parameter):
            self._change.found(1, "Parameter")
            self._change.made()
