# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Plain data of a program: its contents are on the host, small, and of no class of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol, TypeGuard

if TYPE_CHECKING:
    import torch

_LIMIT = 64 << 20  # bytes of tensors and arrays
_ATOMS = (bool, int, float, complex, str, bytes, type(None))


class _Numbers(Protocol):
    """The attributes of a tensor that are read; of a numpy array only the size."""

    device: torch.device
    nbytes: int

    def untyped_storage(self) -> torch.UntypedStorage: ...


def is_plain(value: object) -> bool:
    """True if it consists of containers, numbers, text, and up to 64 MiB of tensors and arrays on the host."""
    return _bytes(value) <= _LIMIT


def _bytes(value: object) -> float:
    """Returns the bytes of its tensors; infinity if any part of it is not plain."""
    if isinstance(value, _ATOMS):
        return 0
    if isinstance(value, dict):
        return sum(map(_bytes, (*value.keys(), *value.values())))
    if isinstance(value, (list, tuple, set)):
        return sum(map(_bytes, value))
    if _is_of(value, "torch", "Tensor"):
        return float(value.untyped_storage().nbytes()) if value.device.type == "cpu" else float("inf")
    if _is_of(value, "numpy", "ndarray") or _is_of(value, "numpy", "generic"):
        return float(value.nbytes)
    return 0 if _is_of(value, "torch", "dtype") or _is_of(value, "torch", "device") else float("inf")


def _is_of(value: object, module: str, name: str) -> TypeGuard[_Numbers]:
    """True if it is an instance of that class. Imports nothing that the program did not."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(value, kind)
