# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A model from its config: built without memory, then placed on the card as a loaded one would lie there."""

from collections.abc import Callable
from typing import Any


def build(make: Callable[[], Any], dtype: Any) -> Any:
    """Calls `make` so that what it makes has no memory, floating-point parameters of `dtype`."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("meta"):
            return make()
    finally:
        torch.set_default_dtype(before)


def place(model: Any, device: Any) -> None:
    """Gives every parameter and buffer of `model` memory on `device`, once: what is shared stays shared.

    Parameters are not filled; buffers, of which the host may read a value, are zero.
    """
    import torch

    placed: dict[int, Any] = {}
    originals = []  # no other object may get the number of one of them

    def once(tensor: Any, make: Callable[[Any], Any]) -> Any:
        if id(tensor) not in placed:
            originals.append(tensor)
            placed[id(tensor)] = make(tensor)
        return placed[id(tensor)]

    def parameter(tensor: Any) -> Any:
        return torch.nn.Parameter(torch.empty_like(tensor, device=device), requires_grad=tensor.requires_grad)

    def buffer(tensor: Any) -> Any:
        return torch.zeros_like(tensor, device=device)

    for module in model.modules():
        for own, make in ((module._parameters, parameter), (module._buffers, buffer)):
            for name, tensor in own.items():
                if tensor is not None:
                    own[name] = once(tensor, make)
