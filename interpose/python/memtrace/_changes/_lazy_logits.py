# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Logits that are computed when they are read, and of which cross entropy needs only pieces."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace._changes import _nested
from memtrace._changes._loss_in_pieces import losses_of
from memtrace._changes._recipe import Recipe

if TYPE_CHECKING:
    from torch import Tensor

# Attributes and methods of tensors that need no values. Those of properties are called __get__.
_FACTS = {"size", "dim", "numel", "nelement", "__len__", "__hash__", "is_floating_point", "element_size", "ndimension"}
_PROPERTIES = ("shape", "dtype", "device", "ndim", "is_cuda", "is_cpu", "is_meta", "is_leaf", "grad_fn", "layout",
               "requires_grad", "is_sparse", "is_nested", "is_quantized", "itemsize", "nbytes")  # fmt: skip
_CASTS = {"float", "half", "bfloat16", "double", "to", "type"}
_SHAPES = {"view", "reshape", "flatten", "contiguous", "squeeze", "unsqueeze", "__getitem__"}
# Each value depends on one logit and on numbers.
_EACH = {"mul", "__mul__", "__rmul__", "div", "__truediv__", "true_divide", "tanh", "multiply", "divide"}


def lazy_class(torch: ModuleType, pieces: int) -> type:
    """Returns the class of such tensors. What it does not know makes it compute the logits and go on with them."""
    facts = {getattr(torch.Tensor, name).__get__ for name in _PROPERTIES}

    class LazyLogits(torch.Tensor):  # type: ignore[misc, name-defined]
        _recipe: Recipe
        _whole: Tensor | None

        @staticmethod
        def __new__(cls: type, recipe: Recipe) -> Any:
            made = torch.Tensor._make_wrapper_subclass(
                cls, recipe.shape, dtype=recipe.dtype, device=recipe.hidden.device, requires_grad=True
            )
            made._recipe, made._whole = recipe, None
            return made

        def whole(self) -> Tensor:
            """Computes them; keeps them for the next reader if they may be part of a backward."""
            whole = self._whole if self._whole is not None else self._recipe.whole()
            if torch.is_grad_enabled():
                self._whole = whole
            return whole

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if getattr(func, "__name__", "") in _FACTS or func in facts:
                with torch._C.DisableTorchFunctionSubclass():
                    return func(*args, **kwargs)
            answer = cls._without_values(func, *args, **kwargs) if args and isinstance(args[0], cls) else None
            if answer is not None:
                return answer
            args, kwargs = _nested.replace(torch, (args, kwargs), lambda t: t.whole() if type(t) is cls else t)
            return func(*args, **kwargs)

        @classmethod
        def _without_values(cls, func: Any, lazy: Any, *args: Any, **kwargs: Any) -> Any:
            if lazy._whole is not None:
                return None
            if func is torch.nn.functional.cross_entropy:
                return losses_of(torch, lazy._recipe, pieces, *args, **kwargs)
            following = _following(torch, lazy._recipe, getattr(func, "__name__", ""), args, kwargs)
            return None if following is None else cls(following)

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise NotImplementedError(f"memtrace: logits in pieces were given to {func}, which does not know them.")

    return LazyLogits


def _following(torch: ModuleType, recipe: Recipe, name: str, args: Any, kwargs: Any) -> Recipe | None:
    """Returns the recipe of a method's result; None if it is not known to be one of single logits."""
    if recipe.has_classes_first:
        return recipe if name == "contiguous" else None
    if name in _CASTS:
        return _cast(torch, recipe, name, args, kwargs)
    if name in _SHAPES:
        return _shaped(torch, recipe, name, args, kwargs)
    if name == "tanh" or (name in _EACH and len(args) == 1 and isinstance(args[0], (int, float)) and not kwargs):
        return recipe.followed_by(lambda logits: getattr(logits, name)(*args), recipe.dtype)
    if name in ("transpose", "swapaxes") and recipe.hidden.dim() == 3:
        is_last_two = {dim % 3 for dim in args} == {1, 2}
        return replace(recipe, has_classes_first=True) if is_last_two else None
    return None


def _cast(torch: ModuleType, recipe: Recipe, name: str, args: Any, kwargs: Any) -> Recipe | None:
    probe = getattr(torch.empty(0, dtype=recipe.dtype, device=recipe.hidden.device), name)(*args, **kwargs)
    if not isinstance(probe, torch.Tensor) or probe.device != recipe.hidden.device or not probe.is_floating_point():
        return None
    if probe.dtype == recipe.dtype:
        return recipe
    return recipe.followed_by(lambda logits: logits.to(probe.dtype), probe.dtype)


def _shaped(torch: ModuleType, recipe: Recipe, name: str, args: Any, kwargs: Any) -> Recipe | None:
    """Returns the recipe of other tokens, or of the same in another order of dimensions; the last one stays."""
    if name == "contiguous":
        return recipe
    if name == "__getitem__":
        return _indexed(torch, recipe, args[0])
    probe = getattr(torch.empty(recipe.shape, dtype=recipe.dtype, device="meta"), name)(*args, **kwargs)
    if probe.dtype != recipe.dtype or probe.dim() == 0 or probe.shape[-1] != recipe.shape[-1]:
        return None
    return replace(recipe, hidden=recipe.hidden.reshape(*probe.shape[:-1], recipe.hidden.shape[-1]))


def _indexed(torch: ModuleType, recipe: Recipe, index: Any) -> Recipe | None:
    parts = index if isinstance(index, tuple) else (index,)
    if not all(part is None or part is ... or isinstance(part, (int, slice)) for part in parts):
        return None
    # An index that reaches into the last dimension gives the same number of values of any number of words.
    widths = [torch.empty((*recipe.shape[:-1], words), device="meta")[index].shape[-1:] for words in (1000, 1001)]
    return replace(recipe, hidden=recipe.hidden[index]) if widths == [(1000,), (1001,)] else None
