# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of logits that are computed in pieces, and again in backward."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from memtrace._changes._recipe import Recipe


def losses_of(
    torch: ModuleType,
    recipe: Recipe,
    pieces: int,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor | None:
    """Returns what torch's cross_entropy would of these arguments; None if it cannot be computed in pieces."""
    hidden = recipe.hidden
    is_of_tokens = target.shape == hidden.shape[:-1] and (recipe.has_classes_first or hidden.dim() == 2)
    is_plain = weight is None and size_average is None and reduce is None and not target.is_floating_point()
    if not is_of_tokens or not is_plain or reduction not in ("mean", "sum", "none"):
        return None
    options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
    plan = _Plan(torch, recipe, pieces, options, torch.is_autocast_enabled(hidden.device.type))
    rows, words = hidden.reshape(-1, hidden.shape[-1]), target.reshape(-1)
    losses = _function(torch).apply(rows, recipe.head.weight, recipe.head.bias, words, plan)
    recipe.head.made()
    if reduction == "none":
        return losses.reshape(target.shape)
    total = losses.sum()
    return total / (words != ignore_index).sum() if reduction == "mean" else total


@dataclass
class _Plan:
    """Says how each piece is computed."""

    torch: ModuleType
    recipe: Recipe
    number: int
    options: dict[str, Any]
    is_cast: bool  # autocast computes cross entropy in fp32

    def of_weights(self, *weights: Tensor | None) -> list[Tensor | None]:
        """Returns them in the type in which the head computes, once for all pieces."""
        dtype = self.recipe.head.dtype
        return [None if weight is None else weight.to(dtype) for weight in weights]

    def slices(self, rows: int) -> Iterator[slice]:
        step = max(1, -(-rows // self.number))
        return (slice(begin, begin + step) for begin in range(0, rows, step))

    def logits(self, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self.torch.nn.functional.linear(hidden.to(weight.dtype), weight, bias)

    def losses(self, logits: Tensor, target: Tensor) -> Tensor:
        for step in self.recipe.steps:
            logits = step(logits)
        if self.is_cast:
            logits = logits.float()
        cross_entropy: Callable[..., Tensor] = self.torch.nn.functional.cross_entropy
        return cross_entropy(logits, target, reduction="none", **self.options)


@functools.cache
def _function(torch: ModuleType) -> Any:
    """Returns the autograd function of losses per token; its backward computes each piece of the logits again."""
    once_differentiable = importlib.import_module("torch.autograd.function").once_differentiable
    without_autocast = functools.partial(torch.autocast, enabled=False)

    class LossInPieces(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(context: Any, hidden: Tensor, weight: Tensor, bias: Any, target: Tensor, plan: _Plan) -> Tensor:
            context.save_for_backward(hidden, weight, bias, target)
            context.plan = plan
            with without_autocast(hidden.device.type):
                weight, bias = plan.of_weights(weight, bias)
                found = [
                    plan.losses(plan.logits(hidden[of], weight, bias), target[of]) for of in plan.slices(len(hidden))
                ]
            return torch.cat(found)

        @staticmethod
        @once_differentiable  # type: ignore[untyped-decorator]
        def backward(context: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
            hidden, weight, bias, target = context.saved_tensors
            plan: _Plan = context.plan
            sums = _Gradients(torch, context.needs_input_grad, hidden, weight, bias)
            with without_autocast(hidden.device.type):
                used, added = plan.of_weights(weight, bias)
                for of in plan.slices(len(hidden)):
                    logits = plan.logits(hidden[of], used, added)
                    sums.add(of, _gradient(torch, plan, logits, target[of], upstream[of]), used)
            return sums.hidden, sums.weight, sums.bias, None, None

    return LossInPieces


def _gradient(torch: ModuleType, plan: _Plan, logits: Tensor, target: Tensor, upstream: Tensor) -> Tensor:
    with torch.enable_grad():
        leaf = logits.detach().requires_grad_(True)
        losses = plan.losses(leaf, target)
    gradient: Tensor = torch.autograd.grad(losses, leaf, upstream)[0]
    return gradient


class _Gradients:
    """Holds those of the head's inputs, which pieces add up in place."""

    def __init__(
        self, torch: ModuleType, needed: tuple[bool, ...], hidden: Tensor, weight: Tensor, bias: Tensor | None
    ) -> None:
        self._inputs = hidden
        self.hidden = torch.empty_like(hidden) if needed[0] else None
        self.weight = torch.zeros_like(weight) if needed[1] else None
        self.bias = torch.zeros_like(bias) if needed[2] else None

    def add(self, of: slice, logits: Tensor, weight: Tensor) -> None:
        """Adds those of a piece, given the gradient of its logits."""
        if self.hidden is not None:
            self.hidden[of] = logits @ weight
        if self.weight is not None:
            inputs = self._inputs[of].to(logits.dtype)
            if self.weight.dtype == logits.dtype:
                self.weight.addmm_(logits.t(), inputs)
            else:
                self.weight += logits.t() @ inputs
        if self.bias is not None:
            self.bias += logits.sum(0)
