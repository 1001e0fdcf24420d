# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""bf16 parameters, as `model.to(torch.bfloat16)` makes them, wherever the program brings a model to the card."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes import _bf16_inputs
from memtrace._changes._change import Change
from memtrace._identity_map import IdentityMap
from memtrace._session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Makes bf16 of the fp32 parameters and buffers of modules, once they are on a card.

    Three ways lead there: made on the card (they are registered there), moved (`Module._apply`), placed past both (seen
    at the first forward of the outermost module). Floats that outermost modules with such parameters are called with
    become bf16, too.
    """
    halving = _Halving(torch, change)
    halving.watch_registration()
    halving.watch_moves()
    _bf16_inputs.watch(torch, session, halving.root)


class _Halving:
    def __init__(self, torch: ModuleType, change: Change) -> None:
        self._torch = torch
        self._change = change
        self._roots: IdentityMap[Module, bool] = IdentityMap()  # whether they have bf16 parameters

    def watch_registration(self) -> None:
        """Before the hooks that say whose memory it is: they are to see the memory that stays."""
        modules = self._torch.nn.modules.module
        for kind in ("parameter", "buffer"):
            handle = getattr(modules, f"register_module_{kind}_registration_hook")(self._registered)
            getattr(modules, f"_global_{kind}_registration_hooks").move_to_end(handle.id, last=False)

    def _registered(self, _module: Module, _name: str, tensor: Tensor) -> None:
        self._halve(tensor)

    def watch_moves(self) -> None:
        """As they move, so that nothing of 32 bits reaches the card."""
        module_class = self._torch.nn.Module
        original = module_class._apply

        @functools.wraps(original)
        def apply(module: Module, function: Callable[[Tensor], Tensor], *args: object, **kwargs: object) -> object:
            return original(module, self._halving(function), *args, **kwargs)

        module_class._apply = apply

    def _halving(self, function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        if hasattr(function, "is_halving"):  # a part's turn
            return function

        def move(tensor: Tensor) -> Tensor:
            if not self._is_plain_float(tensor) or not function(tensor.new_empty(0)).is_cuda:
                return function(tensor)
            self._count(tensor)
            moved = function(tensor.to(self._torch.bfloat16))
            return moved.to(self._torch.bfloat16) if moved.dtype is self._torch.float32 else moved

        move.is_halving = True  # type: ignore[attr-defined]
        return move

    def root(self, module: Module) -> bool:
        """Makes bf16 of what an outermost module holds on a card; tells whether it has parameters of that kind."""
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
        """Tensors of classes of their own (sharded, quantized, flat) have their own ways to change."""
        plain = type(tensor) in (self._torch.Tensor, self._torch.nn.Parameter)
        return plain and tensor.dtype is self._torch.float32

    def _count(self, tensor: Tensor) -> None:
        if isinstance(tensor, self._torch.nn.Parameter):
            self._change.made()
