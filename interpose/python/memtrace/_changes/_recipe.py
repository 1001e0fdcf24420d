# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""How logits of a language model are computed from hidden states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch as torch_types
    from torch import Tensor

Step = Callable[["Tensor"], "Tensor"]


class Head:
    """A call of the linear layer that makes logits of hidden states."""

    def __init__(
        self,
        torch: ModuleType,
        forward: Callable[[Tensor], Tensor],
        weight: Tensor,
        bias: Tensor | None,
        hidden: Tensor,
        made: Callable[[], object],
    ) -> None:
        """Calls `made` when a loss was computed in pieces."""
        self.torch = torch
        self.weight, self.bias, self.hidden = weight, bias, hidden
        self.made = made
        self._forward = forward
        kind = hidden.device.type
        self.is_cast = torch.is_autocast_enabled(kind)
        self.dtype: torch_types.dtype = torch.get_autocast_dtype(kind) if self.is_cast else weight.dtype

    @property
    def is_recorded(self) -> bool:
        """True if a backward may go through it."""
        return bool(self.weight.requires_grad or self.hidden.requires_grad)

    def logits(self, lazy: type) -> Tensor:
        """Returns the logits of all hidden states."""
        return lazy(Recipe(self, self.hidden, (), self.dtype))

    def whole(self, hidden: Tensor) -> Tensor:
        """Computes the logits of these hidden states as the program would have."""
        with self.torch.autocast(hidden.device.type, dtype=self.dtype if self.is_cast else None, enabled=self.is_cast):
            return self._forward(hidden)


@dataclass(frozen=True)
class Recipe:
    """How logits are computed: those of `hidden` by `head`, then each of `steps`."""

    head: Head
    hidden: Tensor
    steps: tuple[Step, ...]
    dtype: torch_types.dtype
    has_classes_first: bool = False  # (batch, classes, tokens)

    @property
    def shape(self) -> tuple[int, ...]:
        shape = (*self.hidden.shape[:-1], self.head.weight.shape[0])
        return (shape[0], shape[2], shape[1]) if self.has_classes_first else shape

    def whole(self) -> Tensor:
        """Computes them all."""
        logits = self.head.whole(self.hidden)
        for step in self.steps:
            logits = step(logits)
        return logits.transpose(1, 2) if self.has_classes_first else logits

    def followed_by(self, step: Step, dtype: torch_types.dtype) -> Recipe:
        return replace(self, steps=(*self.steps, step), dtype=dtype)
