# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The private functions of the simulated card's libnccl (interpose/simulated_card/collectives/virtual_ranks_api.cc)."""

import contextlib
import ctypes
from collections.abc import Iterator

from memtrace._core.package import CARD

_ID_BYTES = 128  # ncclUniqueId
_UNKNOWN = -1


class NcclLibrary:
    """The stand-in that this process has loaded."""

    def __init__(self) -> None:
        """Opens the library, which is loaded already, or fails with OSError."""
        self._library = ctypes.CDLL(str(CARD / "libnccl.so.2"))

    def new_id(self) -> bytes:
        """Returns the id of a new communicator, whose ranks meet in this process."""
        made = ctypes.create_string_buffer(_ID_BYTES)
        if self._library.ncclGetUniqueId(made) != 0:
            raise RuntimeError("The machine does not allow the sockets by which simulated cards exchange data.")
        return made.raw

    @staticmethod
    def unused_id() -> bytes:
        """Returns an id for a communicator with one real rank, which the library does not read."""
        return b"memtrace-nccl-unused".ljust(_ID_BYTES, b"\0")

    @contextlib.contextmanager
    def peer(self, is_real: bool, machine: int) -> Iterator[None]:
        """Says for a pair's communicator that this thread may make who the pair's other rank is."""
        self._library.memtrace_nccl_set_peer(int(is_real), machine)
        try:
            yield
        finally:
            self._library.memtrace_nccl_set_peer(_UNKNOWN, 0)

    @contextlib.contextmanager
    def own_contribution(self, address: int, size: int) -> Iterator[None]:
        """Says where this thread's own contribution to a gather is: `size` bytes of the card."""
        self._library.memtrace_nccl_set_own(ctypes.c_ulonglong(address), ctypes.c_ulonglong(size))
        try:
            yield
        finally:
            self._library.memtrace_nccl_set_own(ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))

    def made_up(self) -> str:
        """Returns the calls for which contents of virtual ranks were made up, such as "ncclAllGather 2"."""
        text = ctypes.create_string_buffer(4096)
        self._library.memtrace_nccl_made_up(text, ctypes.c_ulong(len(text)))
        return text.value.decode()
