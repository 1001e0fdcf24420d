# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds models that nobody trains and that are outside their forward, whose memory leaves a full card first."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.identity_map import IdentityMap
from memtrace._process.labels import is_fake, local_part, tensors_in

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer

    from memtrace._process.module_roots import ModuleRoots

_DEPTH = 4  # levels of containers among a call's arguments


class _Calls:
    """The calls of one outermost module."""

    def __init__(self) -> None:
        self.running = 0
        self.latest = 0  # number of the latest call; 0: none
        self.has_graph = False  # a backward may need the parameters
        self.had_graph = False  # ... or did once


class IdleModels:
    """Notes calls of outermost modules. Kept only with `--spill`. Thread rule: any thread."""

    def __init__(self, roots: ModuleRoots, optimizers: IdentityMap[Optimizer, bool]) -> None:
        """Starts without calls. `roots` knows models that were never called, `optimizers` what is trained."""
        self._roots = roots
        self._optimizers = optimizers
        self._calls: IdentityMap[Module, _Calls] = IdentityMap()
        self._count = 0

    def know(self, module: Module) -> None:
        """Notes a model that may not have been called yet."""
        self._of(module)

    def began(self, module: Module, arguments: object, records: bool) -> None:
        """Notes that an outermost module is called; `records`: gradients are on."""
        calls = self._of(module)
        self._count += 1
        calls.latest = self._count
        calls.running += 1
        tensors = itertools.chain(module.parameters(), tensors_in(arguments, _DEPTH))
        calls.has_graph |= records and any(tensor.requires_grad for tensor in tensors)
        calls.had_graph |= calls.has_graph

    def ended(self, module: Module | None) -> None:
        """Notes that the call has ended."""
        calls = self._calls.get(module) if module is not None else None
        if calls is not None and calls.running > 0:
            calls.running -= 1

    def graphs_are_gone(self) -> None:
        """Notes that a backward pass or a step has ended: no later backward needs the calls so far."""
        for _, calls in self._calls.items():
            calls.has_graph = False

    def find(self, is_generating: bool) -> list[Module]:
        """Lists the idle models, those first that were not called for longest.

        While the program generates text, the latest model is in use between its calls.
        """
        busy, once_in_graphs = self._busy_parts(is_generating), self._parts(lambda calls: calls.had_graph)
        stepped = self._stepped()
        found: list[tuple[int, Module]] = []
        for model in self._known():
            parts = list(model.modules())
            if any(id(part) in busy for part in parts):
                continue
            may_be_trained = not stepped or any(id(part) in once_in_graphs for part in parts)
            if any(_is_trained(parameter, stepped, may_be_trained) for parameter in model.parameters()):
                continue
            calls = [known for part in parts if (known := self._calls.get(part)) is not None]
            found.append((max((one.latest for one in calls), default=0), model))
        return [model for _, model in sorted(found, key=lambda one: one[0])]

    def _stepped(self) -> set[int]:
        groups = (group for optimizer, _ in self._optimizers.items() for group in optimizer.param_groups)
        return {id(parameter) for group in groups for parameter in group["params"]}

    def _known(self) -> list[Module]:
        known = {id(module): module for module, _ in self._calls.items()}
        known.update((id(module), module) for module in self._roots.alive())
        return list(known.values())

    def _busy_parts(self, is_generating: bool) -> set[int]:
        def is_busy(calls: _Calls) -> bool:
            is_between_calls = is_generating and calls.latest == self._count > 0
            return calls.running > 0 or calls.has_graph or is_between_calls

        return self._parts(is_busy)

    def _parts(self, wanted: Callable[[_Calls], bool]) -> set[int]:
        modules = (module for module, calls in self._calls.items() if wanted(calls))
        return {id(part) for module in modules for part in module.modules()}

    def _of(self, module: Module) -> _Calls:
        calls = self._calls.get(module)
        if calls is None:
            calls = _Calls()
            self._calls.set(module, calls)
        return calls


def _is_trained(parameter: Tensor, stepped: set[int], may_be: bool) -> bool:
    """True if the parameter is trained; `may_be`: so is one with gradients on that no optimizer is known to step."""
    if not parameter.requires_grad:
        return False
    return may_be or id(parameter) in stepped or parameter.grad is not None


def addresses_of(module: Module) -> dict[int, array[int]]:
    """Returns the addresses of a model's parameters and buffers, by card."""
    found: dict[int, array[int]] = {}
    for tensor in (*module.parameters(), *module.buffers()):
        if not tensor.is_cuda or is_fake(tensor):
            continue
        try:
            own = local_part(tensor)
            address, device = own.data_ptr(), own.get_device()
        except Exception as error:  # wrapped or not initialised: it has no address of its own
            raise_if_from_outside(error)
            continue
        if address:
            found.setdefault(device, array("Q")).append(address)
    return found
