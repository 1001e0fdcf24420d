# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps models that only serve in the host's memory: `to("cuda")` before their calls, `to("cpu")` after them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes import _serving
from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import Arguments
from memtrace._session import Session
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


class _Host:
    """Releases the card's memory and takes it again. The tensors stay the same objects, without a copy in the host."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._away: dict[int, tuple[UntypedStorage, int]] = {}  # storages and their bytes, by address of their object
        self.copied = 0  # bytes

    def put_away(self, module: Module) -> bool:
        before = self.copied
        for key, (storage, held) in self._storages(module).items():
            size = storage.nbytes()
            if size >= _LEAST_BYTES and held >= size and storage.resizable():
                self._away[key] = storage, size
                storage.resize_(0)
                self.copied += size
        return self.copied > before

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
        storage, size = self._away.pop(tensor.untyped_storage()._cdata, (None, 0))
        if storage is not None:
            storage.resize_(size)
            self.copied += size
        return storage is not None

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
