# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tells which tensors the program may write through `tensor.data`, because torch does not count these writes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def on_data_read(torch: ModuleType, note: Callable[[Tensor], object]) -> None:
    """Calls `note` with each tensor whose `data` the program is about to read or to replace from now on."""
    original = torch.Tensor.data

    def read(tensor: Tensor) -> Tensor:
        note(tensor)
        data: Tensor = original.__get__(tensor)
        return data

    def replace(tensor: Tensor, data: Tensor) -> None:
        note(tensor)
        original.__set__(tensor, data)

    torch.Tensor.data = property(read, replace, doc=original.__doc__)
