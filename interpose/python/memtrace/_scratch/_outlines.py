# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What was saved, without the bytes of its tensors: a program that loads its own checkpoint gets one of that form."""

import copy
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from memtrace._scratch._plain_data import is_plain

_KEPT = 1 << 20  # bytes of a tensor on the host whose values are kept: counts of steps, statistics


class UnknownFormError(Exception):
    """Something in it is of a class of its own, which might hold tensors."""


class _Blank(NamedTuple):
    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: Any
    device: Any
    requires_grad: bool
    is_parameter: bool


def outline(value: Any) -> Any:
    """Gives the same containers with a description in the place of each tensor. Raises UnknownFormError."""
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return _blank(torch, value)
    if isinstance(value, dict):
        return _same_kind(value, {key: outline(of) for key, of in value.items()})
    if type(value) in (list, tuple):
        return type(value)(outline(of) for of in value)
    if is_plain(value):
        return copy.deepcopy(value)
    raise UnknownFormError(type(value).__name__)


def rebuilt(value: Any, device_of: Callable[[Any], Any]) -> Any:
    """Gives what `outline` was made of, each tensor on `device_of(its device)`; values are not what they were."""
    if isinstance(value, _Blank):
        return _tensor(sys.modules["torch"], value, device_of(value.device))
    if isinstance(value, dict):
        return _same_kind(value, {key: rebuilt(of, device_of) for key, of in value.items()})
    if type(value) in (list, tuple):
        return type(value)(rebuilt(of, device_of) for of in value)
    return copy.deepcopy(value)


def _blank(torch: ModuleType, tensor: Any) -> Any:
    if tensor.device.type == "cpu" and tensor.nbytes <= _KEPT and is_plain(tensor):
        return tensor.detach().clone()
    is_parameter = isinstance(tensor, torch.nn.Parameter)
    if tensor.layout != torch.strided or not (is_parameter or type(tensor) is torch.Tensor):
        raise UnknownFormError(type(tensor).__name__)
    form = tuple(tensor.size()), tuple(tensor.stride())
    return _Blank(*form, tensor.dtype, tensor.device, tensor.requires_grad, is_parameter)


def _tensor(torch: ModuleType, blank: _Blank, device: Any) -> Any:
    made = torch.empty_strided(blank.size, blank.stride, dtype=blank.dtype, device=device)
    if blank.is_parameter:
        return torch.nn.Parameter(made, blank.requires_grad)
    return made.requires_grad_(blank.requires_grad)


def _same_kind(of: Any, items: dict[Any, Any]) -> Any:
    """A dict, or the ordered one of a module with the versions in it."""
    if type(of) is dict:
        return items
    try:
        made = type(of)(items)
    except TypeError:  # a defaultdict: its factory comes first
        raise UnknownFormError(type(of).__name__) from None
    if hasattr(of, "_metadata"):
        made._metadata = of._metadata
    return made
