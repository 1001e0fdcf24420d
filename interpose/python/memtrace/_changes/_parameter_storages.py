# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the parameter of a module that a tensor is, or is a whole view of."""

from __future__ import annotations

import functools
import weakref
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._living_modules import modules
from memtrace._patching import patches

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


class ParameterStorages:
    """Finds parameters by their memory; searches again after a module has registered or moved one."""

    def __init__(self, torch: ModuleType) -> None:
        """Watches modules."""
        self._torch = torch
        self._by_storage: dict[int, weakref.ref[Tensor]] = {}
        self._is_stale = True
        torch.nn.modules.module.register_module_parameter_registration_hook(self._registered)
        self._watch_moves(torch.nn.Module)

    def _registered(self, _module: Module, _name: str, _parameter: Tensor) -> None:
        self._is_stale = True

    def _watch_moves(self, module_class: type[Module]) -> None:
        original = module_class._apply

        @functools.wraps(original)
        def apply(module: Module, *args: object, **kwargs: object) -> object:
            self._is_stale = True
            return original(module, *args, **kwargs)

        patches.put(
            module_class,
            "_apply",
            apply,
            "torch.nn.Module._apply: notes that parameters moved, for the change share",
        )

    def parameter_of(self, tensor: Tensor) -> Tensor | None:
        """Returns the parameter with the same memory, in the same order, as `tensor`; None if there is none."""
        storage = tensor.untyped_storage()._cdata
        parameter = self._at(storage)
        if parameter is None and self._is_stale:
            self._is_stale = False
            self._look()
            parameter = self._at(storage)
        return parameter if parameter is not None and _order(parameter) == _order(tensor) else None

    def _look(self) -> None:
        self._by_storage = {}
        for module in modules(self._torch):
            for parameter in vars(module).get("_parameters", {}).values():
                if type(parameter) is self._torch.nn.Parameter:
                    self._by_storage[parameter.untyped_storage()._cdata] = weakref.ref(parameter)

    def _at(self, storage: int) -> Tensor | None:
        reference = self._by_storage.get(storage)
        parameter = reference() if reference is not None else None
        return parameter if parameter is not None and parameter.untyped_storage()._cdata == storage else None


def _order(tensor: Tensor) -> tuple[object, ...]:
    return tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype
