# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the tensors in the arguments and results of modules."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from torch import Tensor

    # The arguments or result of a module. The exact class is checked at each level, which type checkers cannot follow.
    Nested = Any


@overload
def replace(torch: ModuleType, value: tuple[object, ...], change: Callable[[Tensor], Tensor]) -> tuple[object, ...]: ...
@overload
def replace(torch: ModuleType, value: dict[str, object], change: Callable[[Tensor], Tensor]) -> dict[str, object]: ...
@overload
def replace(torch: ModuleType, value: object, change: Callable[[Tensor], Tensor]) -> object: ...
def replace(torch: ModuleType, value: Nested, change: Callable[[Tensor], Tensor]) -> object:
    """Returns `value` with `change(tensor)` for each tensor.

    Goes into lists, tuples, dicts and transformers' outputs; other objects of the program stay as they are.
    """
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(replace(torch, element, change) for element in value)
    if type(value) is dict:
        return {key: replace(torch, element, change) for key, element in value.items()}
    if _is_model_output(value):
        changed = copy.copy(value)
        for key, element in value.items():
            changed[key] = replace(torch, element, change)
        return changed
    return value


def tensors(torch: ModuleType, value: Nested) -> Iterator[Tensor]:
    """Yields the tensors that `replace` finds."""
    if isinstance(value, torch.Tensor):
        yield value
    elif type(value) in (list, tuple):
        for element in value:
            yield from tensors(torch, element)
    elif type(value) is dict or _is_model_output(value):
        for element in value.values():
            yield from tensors(torch, element)


def _is_model_output(value: object) -> bool:
    """True for output classes of transformers and diffusers: dicts whose values are also attributes."""
    return isinstance(value, dict) and any(
        base.__name__ in ("ModelOutput", "BaseOutput") for base in type(value).__mro__
    )
