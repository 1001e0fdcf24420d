# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Copies in the host of the tensors that a block saves for backward."""

from __future__ import annotations

import importlib
import weakref
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch_types
    from torch import Tensor
    from torch.nn import Module

# Bytes. A smaller tensor is not worth two copies over the bus.
_LEAST_BYTES = 1 << 16


class HostCopy:
    """A tensor in pinned memory, and the card that it belongs to."""

    def __init__(self, tensor: Tensor, torch: ModuleType) -> None:
        """Copies within the current stream, in which also the card's memory is used again and the copy comes back."""
        self.card: torch_types.device = tensor.device
        self.host: Tensor = torch.empty_like(tensor, device="cpu", pin_memory=tensor.is_cuda)
        self.host.copy_(tensor, non_blocking=True)
        if tensor.is_cuda:
            tensor.record_stream(torch.cuda.current_stream(tensor.device))


class HostCopies:
    """Holds those of one forward of a block. Operators that save the same tensor share a copy."""

    def __init__(self, torch: ModuleType, block: Module) -> None:
        """The parameters of `block` stay on the card."""
        self._torch = torch
        self._parameters = {parameter.untyped_storage()._cdata for parameter in block.parameters()}
        # By the identity of the tensor's memory and by its form; the reference keeps the former from being used again.
        self._known: dict[tuple[object, ...], tuple[Any, weakref.ref[HostCopy]]] = {}
        self._reference = importlib.import_module("torch.multiprocessing.reductions").StorageWeakRef

    def put_away(self, tensor: Tensor) -> Tensor | HostCopy:
        """Returns what torch is to save: a copy in the host, or the tensor itself if it stays on the card."""
        if not self._is_worth_it(tensor):
            return tensor
        storage = tensor.untyped_storage()
        form = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor._version)
        entry = self._known.get((storage._cdata, form))
        copy = entry[1]() if entry is not None and not entry[0].expired() else None
        if copy is None:
            copy = HostCopy(tensor, self._torch)
            self._known[storage._cdata, form] = self._reference(storage), weakref.ref(copy)
        return copy

    def _is_worth_it(self, tensor: Tensor) -> bool:
        is_plain = type(tensor) is self._torch.Tensor and tensor.layout is self._torch.strided
        if not is_plain or not tensor.is_cuda or tensor.nbytes < _LEAST_BYTES:
            return False
        storage = tensor.untyped_storage()
        is_expanded = tensor.nbytes > storage.nbytes()
        return not is_expanded and storage._cdata not in self._parameters

    def fetch(self, saved: Tensor | HostCopy) -> Tensor:
        """Returns the tensor for backward."""
        return saved.host.to(saved.card, non_blocking=True) if isinstance(saved, HostCopy) else saved
