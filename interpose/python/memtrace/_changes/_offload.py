# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps models that only serve in the host's memory: `to("cuda")` before their calls, `to("cpu")` after them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from memtrace._changes import _away_tensors, _serving
from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import Arguments
from memtrace._core.vocabulary import FIT_COST_OFFLOAD_BYTES
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor, UntypedStorage
    from torch.nn import Module

# Bytes. Smaller tensors stay: a rotary table, a step's number, whose values the host may know.
_LEAST_BYTES = 1 << 16


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies from now on; states at the end how many bytes crossed the bus, in both directions together."""
    host = _Host(torch, session)
    _serving.watch(torch, session, change, host)
    if not change.only_looks:
        session.before_close.append(lambda: session.core.annotate(FIT_COST_OFFLOAD_BYTES, str(host.copied)))


class _Away(NamedTuple):
    storage: UntypedStorage
    copy: Tensor  # in the host


class _Host:
    """Copies the card's memory to the host, releases it, and brings it back. The tensors stay the same objects."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._away: dict[int, _Away] = {}  # by the address of the storage's object
        self._classes = _away_tensors.Classes(torch, self._take)
        self.copied = 0  # bytes

    def put_away(self, module: Module) -> bool:
        before = self.copied
        for key, tensors in self._by_storage(module).items():
            storage = tensors[0].untyped_storage()
            size = storage.nbytes()
            is_whole = size >= _LEAST_BYTES and sum(tensor.nbytes for tensor in tensors) >= size
            if is_whole and storage.resizable() and not self._has_others(storage, len(tensors)):
                self._away[key] = _Away(storage, self._copied(storage))
                storage.resize_(0)
                self._classes.mark(tensors)
                self.copied += size
        return self.copied > before

    def _by_storage(self, module: Module) -> dict[int, list[Tensor]]:
        """Returns the module's tensors by their storage: other bytes there are not the module's to release."""
        found: dict[int, dict[int, Tensor]] = {}
        for tensor in (*module.parameters(), *module.buffers()):
            if not self._classes.is_away(tensor):
                found.setdefault(tensor.untyped_storage()._cdata, {})[id(tensor)] = tensor
        return {key: list(tensors.values()) for key, tensors in found.items()}

    def _has_others(self, storage: UntypedStorage, tensors: int) -> bool:
        """True if more than the module's tensors use the memory: a view that the program keeps would read nothing."""
        return int(self._torch._C._storage_Use_Count(storage._cdata)) > tensors + 1

    def _copied(self, storage: UntypedStorage) -> Tensor:
        """Returns the bytes in pinned memory. Waits for the copy, because the card's memory is released then."""
        on_card = self._bytes_of(storage)
        try:
            copy = self._torch.empty(storage.nbytes(), dtype=self._torch.uint8, pin_memory=True)
        except RuntimeError as error:  # the host has no more memory that can be pinned
            raise_if_from_outside(error)
            copy = self._torch.empty(storage.nbytes(), dtype=self._torch.uint8)
        return copy.copy_(on_card)

    def _bytes_of(self, storage: UntypedStorage) -> Tensor:
        """Returns all of the memory as a tensor of its own, whose writes do not count as the parameters'."""
        whole = self._torch.empty(0, dtype=self._torch.uint8, device=storage.device)
        with self._torch.no_grad():
            return whole.set_(storage, 0, (storage.nbytes(),))

    def fetch(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        self.take_back(module)
        return args, kwargs

    def answer(self, _module: Module, output: object) -> object:
        return output

    def take_back(self, module: Module) -> None:
        if not self._away:
            return
        away = [tensor for tensor in (*module.parameters(), *module.buffers()) if self._classes.is_away(tensor)]
        for tensor in away:
            self._classes.unmark(tensor)
            self._take(tensor)
        if away:
            self._session.labels.module(module)

    def _take(self, tensor: Tensor) -> None:
        """Brings the tensor's memory back, unless another tensor with the same memory did."""
        away = self._away.pop(tensor.untyped_storage()._cdata, None)
        if away is not None:
            away.storage.resize_(away.copy.nbytes)
            self._bytes_of(away.storage).copy_(away.copy, non_blocking=True)
            self.copied += away.copy.nbytes
