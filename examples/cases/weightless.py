# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models of full size without weights, because the memory that a card needs does not depend on the values."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import torch

Model = TypeVar("Model", bound=torch.nn.Module)


def described(make: Callable[[], Model], dtype: torch.dtype = torch.bfloat16) -> Model:
    """Makes the model on no device: shapes and types only."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("meta"):
            return make()
    finally:
        torch.set_default_dtype(before)


def on_card(
    make: Callable[[], Model], dtype: torch.dtype = torch.bfloat16, device: str | torch.device = "cuda"
) -> Model:
    """Makes the model on a card; its parameters are unfilled, and tied weights are tied."""
    model = described(make, dtype).to_empty(device=device)
    if hasattr(model, "tie_weights"):
        model.tie_weights()  # to_empty gave each of them separate memory
    return model


def gib(tensors: Iterable[torch.Tensor]) -> float:
    """Returns the size of all elements of `tensors`, in GiB."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors) / 2**30
