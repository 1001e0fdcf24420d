# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The host's copy of the memory of parameters and buffers, which is kept while they are on the card."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._text.messages import translated
from memtrace._text.say import say

if TYPE_CHECKING:
    from torch import Tensor, UntypedStorage


@contextlib.contextmanager
def unseen_by_the_program(torch: ModuleType) -> Iterator[None]:
    """Runs our copies as the same operators in every mode of the program: inference, a default device, subclasses."""
    with torch._C.DisableTorchFunction(), torch.inference_mode(mode=False), torch.no_grad():
        yield


class HostBytes:
    """A copy of one storage. Use it within `unseen_by_the_program`."""

    def __init__(self, torch: ModuleType, storage: UntypedStorage) -> None:
        """Allocates pinned memory, or ordinary memory if none can be pinned. Raises RuntimeError without either."""
        self._torch = torch
        self._address = storage._cdata
        # It keeps the address of the storage's object from being used again, and not the card's memory.
        self._reference = importlib.import_module("torch.multiprocessing.reductions").StorageWeakRef(storage)
        self._size: int = storage.nbytes()
        self._host = _host_memory(torch, self._size)
        self._versions: dict[int, int] | None = None
        self.is_away = False  # True if the bytes may be only here

    def is_of(self, storage: UntypedStorage) -> bool:
        """True if this is a copy of `storage`, which has the size that it had then."""
        is_same = self._address == storage._cdata and not self._reference.expired()
        return is_same and self._size == storage.nbytes()

    def take(self, storage: UntypedStorage, tensors: Sequence[Tensor], *, are_writes_counted: bool) -> int:
        """Copies what the card has, unless torch counted no write to `tensors` since. Returns the bytes copied."""
        versions = self._versions_of(tensors) if are_writes_counted else None
        if versions is not None and versions == self._versions:
            return 0
        self._versions = None
        self._host.copy_(self._on_card(storage))  # waits for the copy
        self._versions = versions
        return self._size

    def _versions_of(self, tensors: Sequence[Tensor]) -> dict[int, int] | None:
        """Returns torch's counts of writes in place; None if they are not enough.

        Buffers, such as caches, may be written by kernels that torch does not know, and torch counts no writes to
        tensors that were made in inference mode.
        """
        if any(type(tensor) is not self._torch.nn.Parameter or tensor.is_inference() for tensor in tensors):
            return None
        return {id(tensor): tensor._version for tensor in tensors}

    def forget(self) -> None:
        """Copies again next time, because the card's memory may have been written without torch's knowledge."""
        self._versions = None

    def give_back(self, storage: UntypedStorage) -> int:
        """Allocates the card's memory again and begins to copy within the current stream. Returns the bytes copied."""
        storage.resize_(self._size)
        self._on_card(storage).copy_(self._host, non_blocking=True)
        self.is_away = False
        return self._size

    def _on_card(self, storage: UntypedStorage) -> Tensor:
        """Returns all of the memory as a tensor of its own, whose writes do not count as the parameters'."""
        whole: Tensor = self._torch.empty(0, dtype=self._torch.uint8, device=storage.device)
        return whole.set_(storage, 0, (storage.nbytes(),))


def _host_memory(torch: ModuleType, size: int) -> Tensor:
    try:
        pinned: Tensor = torch.empty(size, dtype=torch.uint8, device="cpu", pin_memory=True)
    except RuntimeError as error:
        raise_if_from_outside(error)
        ordinary: Tensor = torch.empty(size, dtype=torch.uint8, device="cpu")
        say(
            translated(
                "The host has no more memory that can be pinned. Some weights wait in ordinary memory of the host, "
                "from which copies to the card are slower."
            )
        )
        return ordinary
    return pinned
