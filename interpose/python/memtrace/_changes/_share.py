# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets copies of parameters that nobody writes share their originals' memory."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._aliases import Aliases
from memtrace._changes._change import Change
from memtrace._changes._parameter_storages import ParameterStorages
from memtrace._changes._program_line import program_line
from memtrace._core.vocabulary import FIT_WRONG_SHARE
from memtrace._patching import patches
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor

# A smaller copy is not worth a line in the program.
_LEAST_BYTES = 1 << 20


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies from now on to `clone`, `to(copy=True)` and their callers, such as `copy.deepcopy` of modules."""
    sharing = _Sharing(torch, session, change)
    patches.put(
        torch.Tensor,
        "clone",
        sharing.cloning(torch.Tensor.clone),
        "torch.Tensor.clone: gives a parameter's own memory, for the change share",
    )
    patches.put(
        torch,
        "clone",
        sharing.cloning(torch.clone),
        "torch.clone: gives a parameter's own memory, for the change share",
    )
    patches.put(
        torch.Tensor,
        "to",
        sharing.moving(torch.Tensor.to),
        "torch.Tensor.to: gives a parameter's own memory, for the change share",
    )


class _Sharing:
    def __init__(self, torch: ModuleType, session: Session, change: Change) -> None:
        self._torch = torch
        self._change = change
        self._storages = ParameterStorages(torch)
        self._aliases = Aliases(torch, functools.partial(self._is_wrong, session))
        self._is_right = True
        self._differentiable = _differentiable_alias(torch)
        session.before_close.append(self._aliases.check)

    def _is_wrong(self, session: Session, place: str) -> None:
        """Takes the change back: a copy or its original was written, so the program needs both."""
        if self._is_right:
            self._is_right = False
            self._change.made(-self._change.places)
            session.core.annotate(FIT_WRONG_SHARE, place)

    def cloning(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @functools.wraps(original)
        def clone(tensor: Tensor, *args: object, **kwargs: object) -> Tensor:
            shared = self._share(tensor) if not args and self._keeps_order(kwargs) else None
            return original(tensor, *args, **kwargs) if shared is None else shared

        return clone

    def _keeps_order(self, kwargs: dict[str, object]) -> bool:
        return kwargs.get("memory_format") in (None, self._torch.preserve_format)

    def moving(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @functools.wraps(original)
        def to(tensor: Tensor, *args: object, **kwargs: object) -> Tensor:
            if kwargs.get("copy") is not True or not self._is_large(tensor):
                return original(tensor, *args, **kwargs)
            # Without `copy`, it returns the tensor itself only if neither its card nor its dtype changes.
            moved = original(tensor, *args, **{**kwargs, "copy": False})
            if moved is not tensor:
                return moved
            shared = self._share(tensor)
            return original(tensor, *args, **kwargs) if shared is None else shared

        return to

    def _is_large(self, tensor: Tensor) -> bool:
        plain = (self._torch.Tensor, self._torch.nn.Parameter)
        return type(tensor) in plain and tensor.is_cuda and tensor.nbytes >= _LEAST_BYTES

    def _share(self, tensor: Tensor) -> Tensor | None:
        """Returns a tensor that may stand for a copy of `tensor`; None unless that is a whole parameter."""
        if not self._is_right or self._torch.compiler.is_compiling() or not self._is_large(tensor):
            return None
        parameter = self._storages.parameter_of(tensor)
        if parameter is None or parameter.is_inference():
            return None
        is_recorded = tensor.requires_grad and self._torch.is_grad_enabled()
        if not self._change.found_and_made("Parameter", program_line()):
            return None
        alias = self._differentiable(tensor) if is_recorded else parameter.detach()
        self._aliases.add(alias, parameter)
        return alias


def _differentiable_alias(torch: ModuleType) -> Callable[[Tensor], Tensor]:
    """Returns a function with the gradient of `clone`, whose result may be written like a clone."""
    function = importlib.import_module("torch.autograd").Function

    class Alias(function):  # type: ignore[misc, valid-type]
        @staticmethod
        def forward(_context: object, tensor: Tensor) -> Tensor:
            return tensor.detach()

        @staticmethod
        def backward(_context: object, gradient: Tensor) -> Tensor:
            return gradient

    apply: Callable[[Tensor], Tensor] = Alias.apply
    return apply
