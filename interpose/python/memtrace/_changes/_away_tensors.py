# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Classes of tensors whose memory is elsewhere, and comes back before any function of torch reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace._changes import _nested

if TYPE_CHECKING:
    from torch import Tensor

# Attributes and methods that read no memory. Those of properties are called __get__.
_FACTS = {"size", "dim", "numel", "nelement", "__len__", "__hash__", "is_floating_point", "element_size", "stride",
          "storage_offset", "is_contiguous", "get_device", "is_complex"}  # fmt: skip
_PROPERTIES = ("shape", "dtype", "device", "ndim", "is_cuda", "is_cpu", "is_meta", "is_leaf", "grad_fn", "layout",
               "requires_grad", "is_sparse", "is_nested", "is_quantized", "itemsize", "nbytes", "grad", "_version",
               "retains_grad", "names", "is_mps", "is_xpu", "is_mkldnn", "_base")  # fmt: skip


class Classes:
    """Marks tensors and parameters as away by their class, which torch asks in each of its functions."""

    def __init__(self, torch: ModuleType, lend: Callable[[list[Tensor]], AbstractContextManager[None]]) -> None:
        """Calls `lend` with tensors that are away; a function that reads them runs within it. `lend` unmarks them."""
        self._torch = torch
        self._lend = lend
        self._facts = {getattr(torch.Tensor, name).__get__ for name in _PROPERTIES if hasattr(torch.Tensor, name)}
        self._away = {plain: self._class_of(plain) for plain in (torch.Tensor, torch.nn.Parameter)}
        self._plain = {away: plain for plain, away in self._away.items()}

    def mark(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            tensor.__class__ = self._away[type(tensor)]

    def unmark(self, tensor: Tensor) -> None:
        """Gives the tensor its own class again, unless another thread did."""
        tensor.__class__ = self._plain.get(type(tensor), type(tensor))

    def is_away(self, tensor: Tensor) -> bool:
        return type(tensor) in self._plain

    def _class_of(self, plain: type) -> type:
        classes, torch = self, self._torch

        def call(_cls: type, func: Any, _types: object, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if func in classes._facts or getattr(func, "__name__", "") in _FACTS:
                with torch._C.DisableTorchFunctionSubclass():
                    return func(*args, **kwargs)
            with classes._lend(
                [tensor for tensor in _nested.tensors(torch, (args, kwargs)) if classes.is_away(tensor)]
            ):
                return func(*args, **kwargs)

        return type(plain.__name__, (plain,), {"__torch_function__": classmethod(call), "is_memory_away": True})
