# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes torch.save's output without the bytes of large storages, as a pickle that torch's own unpickler reads.

So a file can be renamed, copied and loaded by another process, tensors that share a storage share it again, and
`weights_only` refuses the same classes. A file is MARK, a pickle of the small storages' bytes by key, and the object's.
"""

from __future__ import annotations

import ctypes
import io
import pickle
import sys
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from torch import UntypedStorage
    from torch.storage import TypedStorage

_Reference = tuple[str, str, str, str, int]  # "storage", its type of numbers, key, location and bytes

MARK = b"memtrace outline\n"

_PROTOCOL = 2  # the protocol that torch's unpickler for weights knows
_PLAIN_PROTOCOL = 4  # the first with bytes that need no function
_KEPT = 1 << 20  # bytes of a storage on the host whose values are kept: counts of steps, statistics, random states
_KEPT_IN_ALL = 64 << 20  # bytes


def outline(value: object) -> bytes:
    """Returns the bytes after MARK. Raises what torch.save raises for objects that cannot be pickled."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return pickle.dumps(pickler.values, protocol=_PLAIN_PROTOCOL) + file.getvalue()


def rebuild(data: bytes, map_location: object, is_weights_only: bool) -> object:
    """Returns the object where torch.load would put it; most of its tensors have other values than before.

    Raises what torch.load raises.
    """
    file = io.BytesIO(data)
    storages = _Storages(_Plain(file).load(), map_location)
    if not is_weights_only:
        return _Unpickler(file, storages).load()
    import torch._weights_only_unpickler as weights

    unpickler = weights.Unpickler(file, encoding="utf-8")
    unpickler.persistent_load = storages.storage
    return unpickler.load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=_PROTOCOL)
        self.values: dict[str, bytes] = {}
        self._room = _KEPT_IN_ALL
        self._storages: dict[int, UntypedStorage] = {}  # held, so that no later one gets the same address

    def persistent_id(self, obj: object) -> _Reference | None:
        """Like torch.save's, but with plain numbers of bytes and names of types."""
        torch = sys.modules["torch"]
        if isinstance(obj, torch.storage.TypedStorage):
            storage, dtype = obj._untyped_storage, obj.dtype
        elif isinstance(obj, torch.UntypedStorage):
            storage, dtype = obj, torch.uint8
        else:
            return None
        key = str(storage._cdata)
        if storage._cdata not in self._storages:
            self._storages[storage._cdata] = storage
            self._keep(key, storage)
        location = torch.serialization.location_tag(storage)
        return ("storage", str(dtype).removeprefix("torch."), key, location, storage.nbytes())

    def _keep(self, key: str, storage: UntypedStorage) -> None:
        size = storage.nbytes()
        if storage.device.type == "cpu" and size <= min(_KEPT, self._room):
            self.values[key] = ctypes.string_at(storage.data_ptr(), size)
            self._room -= size


class _Plain(pickle.Unpickler):
    """Reads only text and bytes, because a file from elsewhere may begin with MARK, and `weights_only` must hold."""

    def find_class(self, module_name: str, global_name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} must not be in a file that memtrace fit wrote")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, storages: _Storages) -> None:
        super().__init__(file, encoding="utf-8")
        self._storages = storages

    def persistent_load(self, pid: _Reference) -> TypedStorage:
        return self._storages.storage(pid)


class _Storages:
    """Makes the storages of one load, each once."""

    def __init__(self, values: dict[str, bytes], map_location: object) -> None:
        self._values = values
        self._restored = sys.modules["torch"].serialization._get_restore_location(map_location)
        self._made: dict[str, UntypedStorage] = {}

    def storage(self, pid: _Reference) -> TypedStorage:
        torch = sys.modules["torch"]
        _, dtype, key, location, size = pid
        if key not in self._made:
            self._made[key] = self._new(torch, key, location, size)
        return torch.storage.TypedStorage(wrap_storage=self._made[key], dtype=getattr(torch, dtype), _internal=True)

    def _new(self, torch: ModuleType, key: str, location: str, size: int) -> UntypedStorage:
        """Makes a storage where torch.load would move it, or an empty one if its bytes are missing."""
        if self._values.get(key):
            values = torch.frombuffer(bytearray(self._values[key]), dtype=torch.uint8)
            return self._restored(values.untyped_storage(), location)
        return torch.UntypedStorage(size, device=self._restored(torch.UntypedStorage(0), location).device)
