# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models that only serve live on another card: `model.to("cuda:1")`, inputs moved there, what it gives moved back."""

import itertools
from types import ModuleType
from typing import Any

from memtrace._changes import _nested, _serving
from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import Arguments
from memtrace._identity_map import IdentityMap
from memtrace._import_watch import when_imported
from memtrace._session import Session
from memtrace._signal_exceptions import let_through


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """From now on; the change's value is the card, cuda:1 if there is none. Nothing if that card is not there."""
    try:
        card = torch.device(change.value or "cuda:1")
    except RuntimeError as error:
        let_through(error)
        return
    if card.type == "cuda" and card.index is not None and 0 <= card.index < torch.cuda.device_count():
        _serving.watch(torch, session, change, _SecondCard(torch, card))
        when_imported("transformers.training_args", lambda module: _train_on_one(module.TrainingArguments))


def _train_on_one(arguments_class: Any) -> None:
    """A Trainer that sees two cards would put a whole model on each: `args._n_gpu = 1`, as it does for spread ones."""
    original = arguments_class.n_gpu
    arguments_class.n_gpu = property(lambda arguments: min(1, original.__get__(arguments)))


class _SecondCard:
    def __init__(self, torch: ModuleType, card: Any) -> None:
        self._torch = torch
        self._card = card
        self._homes: IdentityMap[Any] = IdentityMap()  # the cards where the program put these parameters and buffers

    def put_away(self, module: Any) -> bool:
        homes = [tensor.device for tensor in (*module.parameters(), *module.buffers())]
        if all(home == self._card for home in homes):
            return False
        module.to(self._card)
        for tensor, home in zip((*module.parameters(), *module.buffers()), homes, strict=True):
            if home != self._card:
                self._homes.set(tensor, home)
        return True

    def fetch(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        if self._home(module) is None:
            return args, kwargs
        return self._moved(args, self._card), self._moved(kwargs, self._card)

    def answer(self, module: Any, output: Any) -> Any:
        home = self._home(module)
        return output if home is None else self._moved(output, home)

    def take_back(self, module: Any) -> None:
        home = self._home(module)
        if home is not None:
            module.to(home)

    def _home(self, module: Any) -> Any:
        """Gives the card from which the module, or the whole that it is part of, was moved; None if it was not."""
        first = next(itertools.chain(module.parameters(), module.buffers()), None)
        return None if first is None or first.device != self._card else self._homes.get(first)

    def _moved(self, value: Any, card: Any) -> Any:
        def move(tensor: Any) -> Any:
            return tensor.to(card) if tensor.is_cuda else tensor

        return _nested.replace(self._torch, value, move)
