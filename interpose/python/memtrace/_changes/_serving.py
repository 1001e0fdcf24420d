# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models that only serve: none of their parameters is stepped, and no backward goes through them."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from memtrace._changes import _nested, _stepped
from memtrace._changes._change import Change
from memtrace._changes._living_modules import roots
from memtrace._changes._outermost_calls import Arguments, around_each
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.library_parts import part_of
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


def watch(torch: ModuleType, session: Session, change: Change, place: Place) -> Serving:
    """Puts them away after each outermost call. Those not called yet go before the first training forward."""
    serving = Serving(torch, change, place)
    _stepped.on_group_added(torch, serving.note_stepped)
    around_each(torch, session, serving.before, serving.after, serving.failed)
    when_imported("transformers.generation.utils", serving.watch_generate)
    return serving


class Serving:
    """Finds models that only serve, and puts them away while no thread calls any model. Thread rule: any thread."""

    def __init__(self, torch: ModuleType, change: Change, place: Place) -> None:
        """Watches nothing by itself; `watch` does."""
        self._torch = torch
        self._change = change
        self._place = place
        self._lock = threading.RLock()
        # Another thread of the parent may hold it.
        os.register_at_fork(after_in_child=self._lock._at_fork_reinit)  # type: ignore[attr-defined]
        self._is_stopped = False
        self._trained: IdentityMap[Tensor, bool] = IdentityMap()  # parameters of an optimizer or a graph
        self._served: IdentityMap[Module, bool] = IdentityMap()
        self._stepped = 0  # number of parameters that optimizers have
        self._looked_at = 0  # that number when idle models were last searched
        self._generating = 0  # calls of generate, nested or in several threads
        self._running = 0  # outermost calls, in all threads
        self._waiting: list[Module] = []  # modules to serve when the last of these calls ends

    def note_stepped(self, tensors: list[Tensor]) -> None:
        """Notes tensors that an optimizer steps from now on."""
        with self._lock:
            self._stepped += len(tensors)
            self._train([tensor for tensor in tensors if self._trained.get(tensor) is None])

    def before(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        """Begins an outermost call."""
        with self._lock:
            if self._torch.is_grad_enabled():
                if self._is_recorded(*module.parameters(), args, kwargs):
                    new = [parameter for parameter in module.parameters() if self._trained.get(parameter) is None]
                    self._train(new)
                self._serve_idle_models(module)
            prepared = self._place.fetch(module, args, kwargs)
            self._running += 1
        return prepared

    def _serve_idle_models(self, called: Module) -> None:
        if self._looked_at == self._stepped or self._running:
            return
        self._looked_at = self._stepped
        for root in roots(self._torch):
            if root is not called and self._only_serves(root):
                self._serve(root)

    def after(self, module: Module, output: object) -> object:
        """Ends an outermost call."""
        with self._lock:
            self._running -= 1
            if self._generating or not self._is_recorded(output):
                self._waiting.append(module)
            self._serve_waiting()
        return self._place.answer(module, output)

    def failed(self) -> None:
        """Ends an outermost call that raised an exception. Its model stays until its next call."""
        with self._lock:
            self._running -= 1
            self._serve_waiting()

    def stop(self) -> None:
        """Takes all models back for good."""
        with self._lock:
            self._is_stopped = True
            for module, _ in self._served.items():
                self._take_back(module)

    def _is_recorded(self, *values: object) -> bool:
        """True if a tensor among them takes part in a backward."""
        return any(tensor.requires_grad for value in values for tensor in _nested.tensors(self._torch, value))

    def watch_generate(self, module: ModuleType) -> None:
        """Treats a call of generate as one use of the model, although it calls the model for each token."""
        found = part_of(module, "GenerationMixin.generate")
        if found is None:
            return
        original: Callable[..., object] = found.original

        @functools.wraps(original)
        def generate(*args: object, **kwargs: object) -> object:
            with self._lock:
                self._generating += 1
            try:
                return original(*args, **kwargs)
            finally:
                with self._lock:
                    self._generating -= 1
                    self._serve_waiting()

        patches.put(
            found.owner,
            "generate",
            generate,
            "transformers.GenerationMixin.generate: is one use of a model, for the changes offload and second_card",
        )

    def _serve_waiting(self) -> None:
        if self._generating or self._running:
            return
        waiting, self._waiting = self._waiting, []
        for module in {id(module): module for module in waiting}.values():
            if self._only_serves(module):
                self._serve(module)

    def _serve(self, module: Module) -> None:
        if self._is_stopped:
            return
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
                self._take_back(module)

    def _take_back(self, module: Module) -> None:
        self._served.pop(module)
        if not self._change.only_looks:
            self._change.made(-1)
            self._place.take_back(module)
