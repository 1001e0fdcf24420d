# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds storages on cards that die with given tensors. No code of the program runs, and nothing is freed."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._holders.named_values import is_a
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.graphs import is_leaf

if TYPE_CHECKING:
    from torch import Tensor

_MOST_IN_TEXT = 1000  # storages: 20 KB

Range = tuple[int, int, int]  # card, address and bytes of a storage


@dataclass(frozen=True)
class _Unshared:
    """Counts for an unshared tensor: looking adds references of its own, and versions of torch differ."""

    storage_uses: int
    storage_references: int  # to Python's object
    gradient_references: int


def storages_of(torch: ModuleType, dying: list[Tensor]) -> list[Range]:
    """Returns the storages on cards, largest first, that die with these tensors, to which no object of Python holds on.

    C++ may hold on: tensors that autograd has saved for a backward pass live on. The base of a dying view and the
    gradient of a dying parameter die with it.
    """
    tensor_class = torch._C.TensorBase
    unshared = _unshared(torch)
    holders = _holders(tensor_class, dying, unshared.gradient_references)
    users: dict[Range, int] = {}
    uses: dict[Range, int] = {}
    for tensor in dying:
        is_sole = tensor_class._use_count(tensor) <= holders[id(tensor)]
        known = _use_of_storage(torch, tensor, unshared) if is_sole else None
        if known is not None:
            users[known[0]] = users.get(known[0], 0) + 1
            uses[known[0]] = known[1]
    found = [each for each, count in users.items() if uses[each] <= count]
    return sorted(found, key=lambda each: each[2], reverse=True)


def text_of(ranges: list[Range]) -> str:
    """Returns the first of them in an annotation's format (profiler/trace/format.md)."""
    return " ".join(f"{card}:{address:x}" for card, address, _ in ranges[:_MOST_IN_TEXT])


def range_of(torch: ModuleType, tensor: Tensor) -> Range | None:
    """Returns the place of the tensor's storage; None if it is not on a card."""
    try:
        storage = torch._C.TensorBase.untyped_storage(tensor)
        if storage.device.type != "cuda" or not storage.data_ptr():
            return None
        return storage.device.index, storage.data_ptr(), storage.nbytes()
    except Exception as error:  # sparse, wrapped or fake: it has no storage
        raise_if_from_outside(error)
        return None


def is_tensor(torch: ModuleType, value: object) -> bool:
    """True if it is a tensor, by its type alone: isinstance() may run code of the program."""
    return is_a(value, torch.Tensor)


@functools.cache
def _unshared(torch: ModuleType) -> _Unshared:
    leaf = torch.empty(1, requires_grad=True)
    leaf.grad = torch.empty(1)
    for gradient in others_held(torch._C.TensorBase, leaf):
        references = sys.getrefcount(gradient)
    storage = torch._C.TensorBase.untyped_storage(leaf)
    uses = torch._C._storage_Use_Count(storage._cdata)
    return _Unshared(uses, sys.getrefcount(storage), references)


def _holders(tensor_class: type[Tensor], dying: list[Tensor], unshared_references: int) -> dict[int, int]:
    """Counts, by id, the references of C++ to each tensor that die; appends tensors that also die."""
    holders: dict[int, int] = {id(tensor): 1 for tensor in dying}  # Python's own object is one
    for tensor in dying:
        for other in others_held(tensor_class, tensor):
            if id(other) not in holders and sys.getrefcount(other) <= unshared_references:
                holders[id(other)] = 1
                dying.append(other)
            if id(other) in holders:
                holders[id(other)] += 1
    return holders


def others_held(tensor_class: type[Tensor], tensor: Tensor) -> list[Tensor]:
    """Lists the base of a view and the gradient of a leaf; classes of the program may redefine the attributes."""
    base = tensor_class._base.__get__(tensor) if tensor_class._is_view(tensor) else None
    gradient = tensor_class.grad.__get__(tensor) if is_leaf(tensor, tensor_class) else None
    return [other for other in (base, gradient) if other is not None]


def _use_of_storage(torch: ModuleType, tensor: Tensor, unshared: _Unshared) -> tuple[Range, int] | None:
    """Returns the place of the storage and the number of tensors that use it; None if it is not on a card."""
    try:
        storage = torch._C.TensorBase.untyped_storage(tensor)
        if storage.device.type != "cuda" or not storage.data_ptr():
            return None
        # The object made here also uses it; an object that the program has counts as a use of its own.
        uses = torch._C._storage_Use_Count(storage._cdata) - unshared.storage_uses + 1
        uses += sys.getrefcount(storage) > unshared.storage_references
        return (storage.device.index, storage.data_ptr(), storage.nbytes()), uses
    except Exception as error:  # sparse, wrapped or fake: it has no storage
        raise_if_from_outside(error)
        return None
