# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Casts inputs and targets to bf16 where a program written for fp32 would fail with bf16 parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, overload

from memtrace._changes import _nested
from memtrace._changes._outermost_calls import Arguments, around_each
from memtrace._patching import patches
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

# Losses that do not accept two dtypes: their backward says "Found dtype Float but expected BFloat16". Others promote.
_LOSSES = ("mse_loss", "huber_loss", "binary_cross_entropy")


def watch(torch: ModuleType, session: Session, is_bf16: Callable[[Module], bool]) -> None:
    """Casts float inputs on a card of modules with bf16 parameters, and the targets of some losses."""

    def prepare(module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        if not is_bf16(module):
            return args, kwargs
        return _cast(torch, args), _cast(torch, kwargs)

    around_each(torch, session, prepare)
    for name in _LOSSES:
        patches.put(
            torch.nn.functional,
            name,
            _of_one_dtype(torch, getattr(torch.nn.functional, name)),
            "torch.nn.functional.*_loss: casts targets to the type of the inputs, for the change bf16",
        )


@overload
def _cast(torch: ModuleType, value: tuple[object, ...]) -> tuple[object, ...]: ...
@overload
def _cast(torch: ModuleType, value: dict[str, object]) -> dict[str, object]: ...
def _cast(torch: ModuleType, value: object) -> object:
    def cast(tensor: Tensor) -> Tensor:
        return tensor.to(torch.bfloat16) if tensor.is_cuda and tensor.dtype is torch.float32 else tensor

    return _nested.replace(torch, value, cast)


def _of_one_dtype(torch: ModuleType, loss: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(loss)
    def loss_with_cast_inputs(*args: object, **kwargs: object) -> object:
        given = (*args, *kwargs.values())
        if any(isinstance(value, torch.Tensor) and value.dtype is torch.bfloat16 for value in given):
            return loss(*_cast(torch, args), **_cast(torch, kwargs))
        return loss(*args, **kwargs)

    return loss_with_cast_inputs
