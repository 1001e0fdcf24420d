# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Quantized parameters: tensors that they hold beside their own, which no module lists."""

from collections.abc import Iterator
from typing import Any

# By attribute of the parameter: bitsandbytes' state of 4-bit weights, and the scales of its 8-bit ones.
_ATTRIBUTES = ("quant_state", "SCB")


def scales(parameter: Any) -> Iterator[Any]:
    """Gives the scales and tables of a quantized parameter; none of another one."""
    known: dict[str, Any] = getattr(parameter, "__dict__", {})
    for name in _ATTRIBUTES if known else ():
        if name in known:
            yield from _tensors(known[name], 2)


def _tensors(value: Any, depth: int) -> Iterator[Any]:
    if hasattr(value, "untyped_storage"):
        yield value
    elif depth and hasattr(value, "__dict__"):
        for item in vars(value).values():
            yield from _tensors(item, depth - 1)
