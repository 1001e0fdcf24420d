# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What has to be bf16 beside the parameters, so that a program that was written for fp32 goes on."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._changes._outermost_calls import Arguments, before_each
from memtrace._session import Session

# Losses that take no two dtypes: their backward says "Found dtype Float but expected BFloat16". Others promote.
_LOSSES = ("mse_loss", "huber_loss", "binary_cross_entropy")


def watch(torch: ModuleType, session: Session, is_bf16: Callable[[Any], bool]) -> None:
    """Casts floats on a card that a module with bf16 parameters is called with, and the targets of some losses."""

    def prepare(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        if not is_bf16(module):
            return args, kwargs
        return _cast(torch, args), _cast(torch, kwargs)

    before_each(torch, session, prepare)
    for name in _LOSSES:
        setattr(torch.nn.functional, name, _of_one_dtype(torch, getattr(torch.nn.functional, name)))


def _cast(torch: ModuleType, value: Any) -> Any:
    """Goes into lists, tuples and dicts; objects of the program stay as they are."""
    if isinstance(value, torch.Tensor):
        return value.to(torch.bfloat16) if value.is_cuda and value.dtype is torch.float32 else value
    if type(value) in (list, tuple):
        return type(value)(_cast(torch, element) for element in value)
    if type(value) is dict:
        return {key: _cast(torch, element) for key, element in value.items()}
    return value


def _of_one_dtype(torch: ModuleType, loss: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(loss)
    def cast_and_lose(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if any(isinstance(value, torch.Tensor) and value.dtype is torch.bfloat16 for value in given):
            return loss(*_cast(torch, args), **_cast(torch, kwargs))
        return loss(*args, **kwargs)

    return cast_and_lose
