# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds tensors that quantized parameters hold beside their own, and that no module lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

# Attributes of the parameter: bitsandbytes' state of 4-bit weights, and the scales of its 8-bit ones.
_ATTRIBUTES = ("quant_state", "SCB")


def scales(parameter: Tensor) -> Iterator[Tensor]:
    """Yields the scales and tables of a quantized parameter; none for others."""
    known: dict[str, object] = getattr(parameter, "__dict__", {})
    for name in _ATTRIBUTES if known else ():
        if name in known:
            yield from _tensors(known[name], 2)


def _tensors(value: object, depth: int) -> Iterator[Tensor]:
    if hasattr(value, "untyped_storage"):
        yield value
    elif depth and hasattr(value, "__dict__"):
        for item in vars(value).values():
            yield from _tensors(item, depth - 1)
