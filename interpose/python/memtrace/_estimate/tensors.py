# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes tensors for another process: sizes, devices and sharing, but only small values that steer the program."""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.optim import Optimizer

    from memtrace._estimate.by_value import Reduction

# Values up to this size are written, if they are on the host or integers: masks, ids, grids of pictures.
_VALUES_UP_TO = 64 << 10


Layout = tuple[tuple[int, ...], tuple[int, ...], int]  # size, strides and offset, in elements


class TensorState(TypedDict):
    """The state of a tensor beside its values."""

    attributes: dict[str, object]
    grad: Tensor | None


@dataclass
class Storage:
    """Memory that one tensor or several use. Sizes in bytes."""

    size: int
    device: str
    dtype: torch.dtype
    content: bytes | None
    made: torch.UntypedStorage | None = field(default=None)

    def memory(self) -> torch.UntypedStorage:
        """Returns the storage in this process, the same each time."""
        import torch

        if self.made is None:
            if self.content:
                values = torch.frombuffer(bytearray(self.content), dtype=self.dtype)
                self.made = values.to(self.device).untyped_storage()
            else:
                count = -(-self.size // self.dtype.itemsize)
                self.made = torch.empty(count, dtype=self.dtype, device=self.device).untyped_storage()
        return self.made


class TensorReductions:
    """Reductions (see by_value) of tensors and optimizers for one pickle. Tensors on no card go to `moves_to`."""

    def __init__(self, moves_to: str | None) -> None:
        """Knows no storage yet."""
        self._moves_to = moves_to
        self._storages: dict[int, Storage] = {}

    def reduction(self, value: object) -> Reduction:
        """Returns the reduction of `value`, or NotImplemented if it is neither a tensor nor an optimizer."""
        import torch

        if isinstance(value, torch.Tensor):
            return self._of_tensor(torch, value)
        if isinstance(value, torch.optim.Optimizer):
            return self._of_optimizer(value)
        return NotImplemented  # type: ignore[no-any-return]

    def _of_tensor(self, torch: ModuleType, tensor: Tensor) -> Reduction:
        if hasattr(tensor, "__tensor_flatten__"):
            names, context = tensor.__tensor_flatten__()
            inner = {name: getattr(tensor, name) for name in names}
            return make_wrapper, (type(tensor), inner, context, tensor.size(), tensor.stride())
        if tensor.layout != torch.strided:
            raise pickle.PicklingError("a sparse tensor cannot be sent to another process")
        lies = (tuple(tensor.size()), tensor.stride(), tensor.storage_offset())
        state: TensorState = {"attributes": dict(vars(tensor)), "grad": tensor.grad if tensor.is_leaf else None}
        is_trained = tensor.is_leaf and tensor.requires_grad
        arguments = (type(tensor), self._storage_of(tensor), tensor.dtype, lies, is_trained)
        return make_tensor, arguments, state, None, None, fill_tensor

    def _storage_of(self, tensor: Tensor) -> Storage:
        storage = tensor.untyped_storage()
        key = getattr(storage, "_cdata", None) or id(tensor)  # without it, tensors count as unshared
        known = self._storages.get(key)
        if known is None:
            device = str(tensor.device)
            if self._moves_to is not None and tensor.device.type in ("cpu", "meta"):
                device = self._moves_to
            known = Storage(storage.nbytes(), device, tensor.dtype, _content(tensor, storage))
            self._storages[key] = known
        return known

    def _of_optimizer(self, optimizer: Optimizer) -> Reduction:
        left_out = {"step"} | {name for name in vars(optimizer) if name.endswith("_hooks")}  # of schedulers, and ours
        state: dict[str, object] = {name: value for name, value in vars(optimizer).items() if name not in left_out}
        if self._moves_to is not None:
            state["state"] = defaultdict(dict)  # the optimizer makes new states on the card
        return make_optimizer, (type(optimizer),), state, None, None, fill_optimizer


def _content(tensor: Tensor, storage: torch.UntypedStorage) -> bytes | None:
    is_steering = tensor.device.type == "cpu" or not (tensor.is_floating_point() or tensor.is_complex())
    is_whole = storage.nbytes() % tensor.dtype.itemsize == 0
    if tensor.device.type == "meta" or not is_steering or not is_whole or not 0 < storage.nbytes() <= _VALUES_UP_TO:
        return None
    return bytes(storage.cpu().tolist())


def make_tensor(kind: type[Tensor], storage: Storage, dtype: torch.dtype, lies: Layout, is_trained: bool) -> Tensor:
    """Makes a tensor of class `kind`; `lies` is its size, strides and offset in elements."""
    import torch

    size, stride, offset = lies
    data = torch.empty(0, dtype=dtype, device=storage.device)
    data.set_(storage.memory(), offset, size, stride)
    return (
        data.requires_grad_(is_trained) if kind is torch.Tensor else torch.Tensor._make_subclass(kind, data, is_trained)
    )


def fill_tensor(tensor: Tensor, state: TensorState) -> None:
    """Sets its attributes and gradient."""
    vars(tensor).update(state["attributes"])
    if state["grad"] is not None:
        tensor.grad = state["grad"]


def make_wrapper(
    kind: type[Tensor], inner: dict[str, Tensor], context: object, size: torch.Size, stride: tuple[int, ...]
) -> Tensor:
    """Makes a tensor that consists of others, by its class's own protocol."""
    return kind.__tensor_unflatten__(inner, context, size, stride)


def make_optimizer(kind: type[Optimizer]) -> Optimizer:
    """Makes an optimizer without parameters."""
    return kind.__new__(kind)  # type: ignore[call-overload]


def fill_optimizer(optimizer: Optimizer, state: dict[str, object]) -> None:
    """Sets its groups and states, like torch's own unpickling."""
    optimizer.__setstate__(state)
