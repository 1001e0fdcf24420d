# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks that label the memory of modules when it is registered, moved, complete, or replaced for one call."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._patching.quiet import quieter
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def watch(torch: ModuleType, session: Session) -> None:
    """Labels parameters and buffers of modules, without touching the script."""
    labels = _ModuleLabels(session)
    quiet = quieter(torch)
    modules = torch.nn.modules.module
    modules.register_module_parameter_registration_hook(quiet(labels.parameter_registered))
    modules.register_module_buffer_registration_hook(quiet(labels.buffer_registered))
    modules.register_module_module_registration_hook(quiet(session.labels.roots.registered))
    _watch_moves(modules.Module, quiet(session.labels.module))
    _watch_modes(modules.Module, session.labels.roots.has, quiet(labels.mode_set))
    _watch_functional_calls(quiet(session.labels.functional))


class _ModuleLabels:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._complete: IdentityMap[Module, bool] = IdentityMap()  # models whose mode was set

    def parameter_registered(self, _module: Module, name: str, tensor: Tensor) -> None:
        if tensor is not None:
            self._session.labels.parameter(tensor, name)

    def buffer_registered(self, _module: Module, name: str, tensor: Tensor) -> None:
        if tensor is not None:
            self._session.labels.buffer(tensor, name)

    def mode_set(self, module: Module) -> None:
        if self._complete.get(module) is None:
            self._complete.set(module, True)
            self._session.labels.module(module)


class _Moves(threading.local):
    """The moves that run in a thread."""

    depth = 0  # nested Module._apply calls (.to, .cuda, .half ...): one for each level of the model


def _watch_moves(module_class: type[Module], label: Callable[..., object]) -> None:
    original = module_class._apply
    moves = _Moves()

    @functools.wraps(original)
    def apply(module: Module, *args: object, **kwargs: object) -> object:
        moves.depth += 1
        try:
            return original(module, *args, **kwargs)
        finally:
            moves.depth -= 1
            if moves.depth == 0:
                label(module)

    patches.put(module_class, "_apply", apply, "torch.nn.Module._apply: labels the new memory of moved parameters")


def _watch_modes(
    module_class: type[Module], is_root: Callable[[Module], bool], mode_set: Callable[..., object]
) -> None:
    """Treats a model whose mode is set as complete: loaders end with eval(), programs begin with train()."""
    original = module_class.train

    @functools.wraps(original)
    def train(module: Module, mode: bool = True) -> object:
        result = original(module, mode)
        if is_root(module):
            mode_set(module)
        return result

    patches.put(
        module_class, "train", train, "torch.nn.Module.train: notes that a model is complete when its mode is set"
    )


def _watch_functional_calls(label: Callable[..., object]) -> None:
    """Handles torch.func.functional_call, which temporarily replaces a module's own tensors."""
    stateless = importlib.import_module("torch.nn.utils.stateless")
    original: Callable[..., object] | None = getattr(stateless, "_functional_call", None)
    if original is None:
        return

    @functools.wraps(original)
    def functional_call(module: Module, tensors: object, *args: object, **kwargs: object) -> object:
        label(module, tensors)
        return original(module, tensors, *args, **kwargs)

    patches.put(
        stateless,
        "_functional_call",
        functional_call,
        "torch.nn.utils.stateless._functional_call: labels tensors that replace a module's own",
    )
