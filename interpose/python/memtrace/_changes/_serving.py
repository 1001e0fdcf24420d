# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models that only serve: none of their parameters is stepped, and no backward goes through them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from memtrace._changes import _nested, _stepped
from memtrace._changes._change import Change
from memtrace._changes._living_modules import roots
from memtrace._changes._outermost_calls import Arguments, around_each
from memtrace._patching.import_watch import when_imported
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

# A smaller model is not worth a line in the program.
_LEAST_BYTES = 1 << 20


class Place(Protocol):
    """The place for such models while the program does something else."""

    def put_away(self, module: Module) -> bool:
        """Puts the module away after its outermost call or `generate`, or before training. True if it was there."""

    def fetch(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        """Prepares for a call of any module or a part of it, and returns the arguments for it."""

    def answer(self, module: Module, output: object) -> object:
        """Returns the caller's result for the module's output."""

    def take_back(self, module: Module) -> None:
        """Puts the module back for good, because it does not only serve."""


def watch(torch: ModuleType, session: Session, change: Change, place: Place) -> None:
    """Puts them away after each outermost call. Those not called yet go before the first training forward."""
    serving = _Serving(torch, change, place)
    _stepped.on_group_added(torch, serving.note_stepped)
    around_each(torch, session, serving.before, serving.after)
    when_imported("transformers.generation.utils", lambda module: serving.watch_generate(module))


class _Serving:
    def __init__(self, torch: ModuleType, change: Change, place: Place) -> None:
        self._torch = torch
        self._change = change
        self._place = place
        self._trained: IdentityMap[Tensor, bool] = IdentityMap()  # parameters of an optimizer or a graph
        self._served: IdentityMap[Module, bool] = IdentityMap()
        self._stepped = 0  # number of parameters that optimizers have
        self._looked_at = 0  # that number when idle models were last searched
        self._generating = 0  # nested calls of generate
        self._waiting: list[Module] = []  # modules to serve when the outermost of them ends

    def note_stepped(self, tensors: list[Tensor]) -> None:
        self._stepped += len(tensors)
        self._train([tensor for tensor in tensors if self._trained.get(tensor) is None])

    def before(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        if self._torch.is_grad_enabled():
            if self._is_recorded(*module.parameters(), args, kwargs):
                self._train([parameter for parameter in module.parameters() if self._trained.get(parameter) is None])
            if self._looked_at != self._stepped:
                self._looked_at = self._stepped
                for root in roots(self._torch):
                    if root is not module and self._only_serves(root):
                        self._serve(root)
        return self._place.fetch(module, args, kwargs)

    def after(self, module: Module, output: object) -> object:
        if self._generating:
            self._waiting.append(module)
        elif not self._is_recorded(output) and self._only_serves(module):
            self._serve(module)
        return self._place.answer(module, output)

    def _is_recorded(self, *values: object) -> bool:
        """True if a tensor among them takes part in a backward."""
        return any(tensor.requires_grad for value in values for tensor in _nested.tensors(self._torch, value))

    def watch_generate(self, module: ModuleType) -> None:
        """Treats a call of generate as one use of the model, although it calls the model for each token."""
        owner = module.GenerationMixin
        original: Callable[..., object] = owner.generate

        @functools.wraps(original)
        def generate(*args: object, **kwargs: object) -> object:
            self._generating += 1
            try:
                return original(*args, **kwargs)
            finally:
                self._generating -= 1
                if not self._generating:
                    self._generated()

        owner.generate = generate

    def _generated(self) -> None:
        waiting, self._waiting = self._waiting, []
        for module in {id(module): module for module in waiting}.values():
            if self._only_serves(module):
                self._serve(module)

    def _serve(self, module: Module) -> None:
        is_away = self._change.only_looks or self._place.put_away(module)
        if is_away and self._served.get(module) is None:
            self._served.set(module, True)
            self._change.found_and_made(type(module).__name__)

    def _only_serves(self, module: Module) -> bool:
        tensors = [*module.parameters(), *module.buffers()]
        if not all(tensor.is_cuda and self._is_plain(tensor) for tensor in tensors):
            return False
        if sum(tensor.nbytes for tensor in tensors) < _LEAST_BYTES:
            return False
        return not any(self._trained.get(tensor) for tensor in tensors)

    def _is_plain(self, tensor: Tensor) -> bool:
        """True for plain tensors. Sharded or quantized ones move in other ways and may not support weak references."""
        plain = (self._torch.Tensor, self._torch.nn.Parameter)
        return type(tensor) in plain or hasattr(type(tensor), "is_memory_away")

    def _train(self, parameters: list[Tensor]) -> None:
        for parameter in filter(self._is_plain, parameters):
            self._trained.set(parameter, True)
        ids = set(map(id, parameters))
        for module, _ in self._served.items() if ids else ():
            if any(id(parameter) in ids for parameter in module.parameters()):
                self._served.pop(module)
                if not self._change.only_looks:
                    self._change.made(-1)
                    self._place.take_back(module)
