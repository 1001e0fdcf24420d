# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps models that only serve in the host's memory: `to("cuda")` before their calls, `to("cpu")` after them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from memtrace._changes import _serving
from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import Arguments
from memtrace._session import Session
from memtrace._signal_exceptions import raise_if_from_outside
from memtrace._vocabulary import FIT_COST_OFFLOAD_BYTES

if TYPE_CHECKING:
    from torch import Tensor, UntypedStorage
    from torch.nn import Module

# Bytes. Smaller tensors stay: a rotary table, a step's number, whose values the host may know.
_LEAST_BYTES = 1 << 16
# Methods that would read or write memory that is away. Kernels that do so are not run on the simulated card.
_COPIES = ("clone", "copy_", "to", "cpu")


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies from now on; states at the end how many bytes crossed the bus, in both directions together."""
    host = _Host(torch, session)
    _serving.watch(torch, session, change, host)
    for name in _COPIES:
        setattr(torch.Tensor, name, host.fetching(getattr(torch.Tensor, name)))
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
        self.copied = 0  # bytes

    def put_away(self, module: Module) -> bool:
        before = self.copied
        for key, (storage, held) in self._storages(module).items():
            size = storage.nbytes()
            if size >= _LEAST_BYTES and held >= size and storage.resizable():
                self._away[key] = _Away(storage, self._copied(storage))
                storage.resize_(0)
                self.copied += size
        return self.copied > before

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

    def _storages(self, module: Module) -> dict[int, tuple[UntypedStorage, int]]:
        """Returns the storages with the module's bytes in them: other bytes there are not the module's to release."""
        found: dict[int, tuple[UntypedStorage, int]] = {}
        for tensor in (*module.parameters(), *module.buffers()):
            storage = tensor.untyped_storage()
            held = found.get(storage._cdata, (storage, 0))[1]
            found[storage._cdata] = storage, held + tensor.nbytes
        return found

    def fetch(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        self.take_back(module)
        return args, kwargs

    def answer(self, _module: Module, output: object) -> object:
        return output

    def take_back(self, module: Module) -> None:
        if not self._away:
            return
        came = [self._take(tensor) for tensor in (*module.parameters(), *module.buffers())]
        if any(came):
            self._session.labels.module(module)

    def _take(self, tensor: Tensor) -> bool:
        away = self._away.pop(tensor.untyped_storage()._cdata, None)
        if away is None:
            return False
        away.storage.resize_(away.copy.nbytes)
        self._bytes_of(away.storage).copy_(away.copy, non_blocking=True)
        self.copied += away.copy.nbytes
        return True

    def fetching(self, original: Callable[..., object]) -> Callable[..., object]:
        """Wraps a method of tensors so that it first takes back the memory of its arguments."""
        is_compiling = self._torch.compiler.is_compiling

        @functools.wraps(original)
        def copy(tensor: Tensor, *args: object, **kwargs: object) -> object:
            if self._away and not is_compiling():
                for each in (tensor, *args):
                    if isinstance(each, self._torch.Tensor) and each.is_cuda:
                        self._take(each)
            return original(tensor, *args, **kwargs)

        return copy
