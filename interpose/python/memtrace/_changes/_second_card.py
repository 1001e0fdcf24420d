# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps models that only serve on another card: moves inputs there, and results back."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, overload

from memtrace._changes import _nested, _serving
from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import Arguments
from memtrace._patching.import_watch import when_imported
from memtrace._patching.library_parts import part_of
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import Module

    Device: TypeAlias = torch.device


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies from now on; the change's value is the card, cuda:1 by default. Does nothing if that card is missing."""
    if change.only_looks:
        _serving.watch(torch, session, change, _SecondCard(torch, torch.device("cuda:0")))
        return
    try:
        card = torch.device(change.value or "cuda:1")
    except RuntimeError as error:
        raise_if_from_outside(error)
        return
    if card.type == "cuda" and card.index is not None and 0 <= card.index < torch.cuda.device_count():
        _serving.watch(torch, session, change, _SecondCard(torch, card))
        when_imported("transformers.training_args", _train_on_one)


def _train_on_one(training_args: ModuleType) -> None:
    """Sets `args._n_gpu = 1`, as Trainer does for spread models: with two cards it would copy the model to each."""
    if found := part_of(training_args, "TrainingArguments.n_gpu"):
        cards = found.original
        found.owner.n_gpu = property(lambda arguments: min(1, cards.__get__(arguments)))


class _SecondCard:
    def __init__(self, torch: ModuleType, card: Device) -> None:
        self._torch = torch
        self._card = card
        # The cards where the program put these parameters and buffers.
        self._homes: IdentityMap[Tensor, Device] = IdentityMap()

    def put_away(self, module: Module) -> bool:
        homes = [tensor.device for tensor in (*module.parameters(), *module.buffers())]
        if all(home == self._card for home in homes):
            return False
        module.to(self._card)
        for tensor, home in zip((*module.parameters(), *module.buffers()), homes, strict=True):
            if home != self._card:
                self._homes.set(tensor, home)
        return True

    def fetch(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        if self._home(module) is None:
            return args, kwargs
        return self._moved(args, self._card), self._moved(kwargs, self._card)

    def answer(self, module: Module, output: object) -> object:
        home = self._home(module)
        return output if home is None else self._moved(output, home)

    def take_back(self, module: Module) -> None:
        home = self._home(module)
        if home is not None:
            module.to(home)

    def _home(self, module: Module) -> Device | None:
        """Returns the card that the module, or the model that it is part of, was moved from; None if it was not."""
        first = next(itertools.chain(module.parameters(), module.buffers()), None)
        return None if first is None or first.device != self._card else self._homes.get(first)

    @overload
    def _moved(self, value: tuple[object, ...], card: Device) -> tuple[object, ...]: ...
    @overload
    def _moved(self, value: dict[str, object], card: Device) -> dict[str, object]: ...
    @overload
    def _moved(self, value: object, card: Device) -> object: ...
    def _moved(self, value: object, card: Device) -> object:
        def move(tensor: Tensor) -> Tensor:
            return tensor.to(card) if tensor.is_cuda else tensor

        return _nested.replace(self._torch, value, move)
