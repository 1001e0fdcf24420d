# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What has to be bf16 beside the parameters, so that a program that was written for fp32 goes on."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._changes import _nested
from memtrace._changes._outermost_calls import Arguments, around_each
from memtrace._session import Session

# Losses that take no two dtypes: their backward says "Found dtype Float but expected BFloat16". Others promote.
_LOSSES = ("mse_loss", "huber_loss", "binary_cross_entropy")


def watch(torch: ModuleType, session: Session, is_bf16: Callable[[Any], bool]) -> None:
    """Casts floats on a card that a module with bf16 parameters is called with, and the targets of some losses."""

    def prepare(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        if not is_bf16(module):
            return args, kwargs
        return _cast(torch, args), _cast(torch, kwargs)

    around_each(torch, session, prepare)
    for name in _LOSSES:
        setattr(torch.nn.functional, name, _of_one_dtype(torch, getattr(torch.nn.functional, name)))


def _cast(torch: ModuleType, value: Any) -> Any:
    def cast(tensor: Any) -> Any:
        return tensor.to(torch.bfloat16) if tensor.is_cuda and tensor.dtype is torch.float32 else tensor

    return _nested.replace(torch, value, cast)


def _of_one_dtype(torch: ModuleType, loss: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(loss)
    def cast_and_lose(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if any(isinstance(value, torch.Tensor) and value.dtype is torch.bfloat16 for value in given):
            return loss(*_cast(torch, args), **_cast(torch, kwargs))
        return loss(*args, **kwargs)

    return cast_and_lose
