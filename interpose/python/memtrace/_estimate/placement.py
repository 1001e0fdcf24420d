# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a model from its config without memory, then places it on the card like a loaded one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import Module


def build(make: Callable[[], Module], dtype: torch.dtype) -> Module:
    """Calls `make` so that the model has no memory and its floating-point parameters have `dtype`."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("meta"):
            return make()
    finally:
        torch.set_default_dtype(before)


def place(model: Module, device: str) -> None:
    """Allocates every parameter and buffer of `model` on `device`, once: shared ones stay shared.

    Parameters are not filled; buffers are zero, because the host may read a value of theirs.
    """
    import torch

    placed: dict[int, Tensor] = {}
    originals = []  # kept so that no other object gets the id of one of them

    def once(tensor: Tensor, make: Callable[[Tensor], Tensor]) -> Tensor:
        if id(tensor) not in placed:
            originals.append(tensor)
            placed[id(tensor)] = make(tensor)
        return placed[id(tensor)]

    def parameter(tensor: Tensor) -> Tensor:
        return torch.nn.Parameter(torch.empty_like(tensor, device=device), requires_grad=tensor.requires_grad)

    def buffer(tensor: Tensor) -> Tensor:
        return torch.zeros_like(tensor, device=device)

    for module in model.modules():
        for own, make in ((module._parameters, parameter), (module._buffers, buffer)):
            for name, tensor in own.items():
                if tensor is not None:
                    own[name] = once(tensor, make)
