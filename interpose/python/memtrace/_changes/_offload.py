# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps models that only serve in the host's memory: `to("cuda")` before their calls, `to("cpu")` after them."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes import _away_tensors, _serving
from memtrace._changes._change import Change
from memtrace._changes._data_reads import on_data_read
from memtrace._changes._host_bytes import HostBytes, unseen_by_the_program
from memtrace._changes._outermost_calls import Arguments
from memtrace._core.vocabulary import FIT_COST_OFFLOAD_BYTES
from memtrace._patching import patches
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session
from memtrace._text.messages import translated
from memtrace._text.say import say

if TYPE_CHECKING:
    from torch import Tensor, UntypedStorage
    from torch.nn import Module

# Bytes. Smaller tensors stay: a rotary table, a step's number, whose values the host may know.
_LEAST_BYTES = 1 << 16


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies from now on; states at the end how many bytes crossed the bus, in both directions together."""
    host = _Host(torch, session)
    serving = _serving.watch(torch, session, change, host)
    if change.only_looks:
        return
    on_data_read(torch, host.note_data)
    _before_each_capture(torch, serving.stop, host.take_all_back)
    session.before_close.append(lambda: session.core.annotate(FIT_COST_OFFLOAD_BYTES, str(host.copied)))


def _before_each_capture(torch: ModuleType, *actions: Callable[[], object]) -> None:
    """A graph that is replayed reads the addresses that the weights had when it was captured."""
    graph_class = torch.cuda.CUDAGraph
    original = graph_class.capture_begin

    @functools.wraps(original)
    def capture_begin(*args: object, **kwargs: object) -> object:
        for act in actions:
            act()
        return original(*args, **kwargs)

    patches.put(
        graph_class,
        "capture_begin",
        capture_begin,
        "torch.cuda.CUDAGraph.capture_begin: brings weights back before a capture, for the change offload",
    )


class _Host:
    """Copies the card's memory to the host, releases it, and brings it back. The tensors stay the same objects.

    The host's copy is kept while a tensor is on the card, and is written again only if the tensor may have been. It
    waits for the card after a tensor has come back and before its memory is released, so other streams and threads of
    the program may use the tensor as if it had never been away. Thread rule: any thread.
    """

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._lock = threading.RLock()
        # Another thread of the parent may hold it.
        os.register_at_fork(after_in_child=self._lock._at_fork_reinit)  # type: ignore[attr-defined]
        self._copies: IdentityMap[Tensor, HostBytes] = IdentityMap()
        self._by_address: weakref.WeakValueDictionary[int, HostBytes] = weakref.WeakValueDictionary()  # of storages
        self._classes = _away_tensors.Classes(torch, self._lend)
        self._lent = 0  # functions of torch that run with tensors that came back for them
        self._has_compiled = False
        self.copied = 0  # bytes

    def put_away(self, module: Module) -> bool:
        with self._lock, unseen_by_the_program(self._torch):
            if self._lent:
                return False
            ready = [tensors for tensors in self._by_storage(module) if self._can_go(tensors)]
            for card in {tensors[0].device for tensors in ready}:
                self._torch.cuda.synchronize(card)
            are_writes_counted = self._are_writes_counted(module)
            return sum(self._put_away(tensors, are_writes_counted) for tensors in ready) > 0

    def _are_writes_counted(self, module: Module) -> bool:
        """False if compiled code may write parameters: what it does to `data` is neither counted nor seen here."""
        dynamo = sys.modules.get("torch._dynamo.utils")
        self._has_compiled = self._has_compiled or bool(dynamo and dynamo.counters["stats"]["unique_graphs"])
        script_class = self._torch.jit.ScriptModule
        return not self._has_compiled and not any(isinstance(part, script_class) for part in module.modules())

    def _by_storage(self, module: Module) -> list[list[Tensor]]:
        """Returns the module's tensors by their storage: other bytes there are not the module's to release."""
        found: dict[int, dict[int, Tensor]] = {}
        for tensor in _tensors_of(module):
            if not self._classes.is_away(tensor):
                found.setdefault(tensor.untyped_storage()._cdata, {})[id(tensor)] = tensor
        return [list(tensors.values()) for tensors in found.values()]

    def _can_go(self, tensors: Sequence[Tensor]) -> bool:
        storage = tensors[0].untyped_storage()
        size = storage.nbytes()
        is_whole = size >= _LEAST_BYTES and sum(tensor.nbytes for tensor in tensors) >= size
        return is_whole and storage.resizable() and not self._has_others(storage, len(tensors))

    def _has_others(self, storage: UntypedStorage, tensors: int) -> bool:
        """True if more than the module's tensors use the memory: a view that the program keeps would read nothing."""
        return int(self._torch._C._storage_Use_Count(storage._cdata)) > tensors + 1

    def _put_away(self, tensors: Sequence[Tensor], are_writes_counted: bool) -> bool:
        """Returns False if the host has no memory for them. An exception from outside loses nothing at any line."""
        storage = tensors[0].untyped_storage()
        copy = self._copies.get(tensors[0])
        if copy is None or not copy.is_of(storage):
            copy = self._new_copy(storage)
        if copy is None:
            return False
        self.copied += copy.take(storage, tensors, are_writes_counted=are_writes_counted)
        for tensor in tensors:
            self._copies.set(tensor, copy)
        copy.is_away = True
        self._classes.mark(tensors)
        storage.resize_(0)
        return True

    def _new_copy(self, storage: UntypedStorage) -> HostBytes | None:
        try:
            copy = HostBytes(self._torch, storage)
        except RuntimeError as error:
            raise_if_from_outside(error)
            say(translated("The host has no memory for some weights, which stay on the card."))
            return None
        self._by_address[storage._cdata] = copy
        return copy

    def fetch(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        with self._lock:
            away = [tensor for tensor in _tensors_of(module) if self._classes.is_away(tensor)]
            if away:
                self._bring_back(away)
                self._session.labels.module(module)
        return args, kwargs

    def answer(self, _module: Module, output: object) -> object:
        return output

    def take_back(self, module: Module) -> None:
        self.fetch(module, (), {})
        for tensor in _tensors_of(module):
            self._copies.pop(tensor)

    def take_all_back(self) -> None:
        """Brings everything back for good, also tensors whose module is gone."""
        with self._lock:
            tensors = [tensor for tensor, _ in self._copies.items()]
            self._bring_back([tensor for tensor in tensors if self._classes.is_away(tensor)])
            for tensor in tensors:
                self._copies.pop(tensor)

    @contextlib.contextmanager
    def _lend(self, tensors: Sequence[Tensor]) -> Iterator[None]:
        """Brings them back for a function of torch that reads them, and maybe writes them, outside of their module."""
        with self._lock:
            self._bring_back(tensors)
            for tensor in tensors:
                self._forget(self._copies.get(tensor))
            self._lent += 1
        try:
            yield
        finally:
            with self._lock:
                self._lent -= 1

    def _bring_back(self, tensors: Sequence[Tensor]) -> None:
        """Brings the memory back, unless another tensor with the same memory did. If it fails, it can be repeated."""
        cards = set()
        with unseen_by_the_program(self._torch):
            for tensor in tensors:
                copy = self._copies.get(tensor)
                if copy is not None and copy.is_away:
                    self.copied += copy.give_back(tensor.untyped_storage())
                    cards.add(tensor.device)
            for card in cards:
                self._torch.cuda.current_stream(card).synchronize()
        for tensor in tensors:
            self._classes.unmark(tensor)

    def note_data(self, tensor: Tensor) -> None:
        """Copies a tensor again next time, because the program may write it through its `data`."""
        try:
            if not tensor.is_cuda or not len(self._by_address):
                return
            self._forget(self._by_address.get(tensor.untyped_storage()._cdata))
        except RuntimeError as error:  # it has no storage of its own, as in vmap
            raise_if_from_outside(error)
            for copy in list(self._by_address.values()):
                copy.forget()

    def _forget(self, copy: HostBytes | None) -> None:
        if copy is not None:
            copy.forget()


def _tensors_of(module: Module) -> list[Tensor]:
    return [*module.parameters(), *module.buffers()]
