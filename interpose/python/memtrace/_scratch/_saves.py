# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: a name that exists, and nothing in it; who loads it again in this process gets what was saved.

The card holds no values, and its tensors would cost the host their size. Plain data of the host is written, into the
scratch folder: programs keep small caches by torch.save and read them again.
"""

import contextlib
import functools
import io
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._import_watch import when_imported
from memtrace._scratch._outlines import UnknownFormError, outline, rebuilt
from memtrace._scratch._places import Places
from memtrace._scratch._plain_data import is_plain
from memtrace._scratch._replacing import replace

_NO_LOAD = "as an object of a class of its own or by another process; it cannot be loaded again there"


def watch(places: Places) -> None:
    """Once torch or safetensors is imported; whoever imports their functions by name gets ours."""
    saves = _Saves(places)
    when_imported("torch.serialization", lambda module: saves.watch(module, "save", saves.save))
    when_imported("torch.serialization", lambda module: saves.watch(module, "load", saves.load))
    when_imported("safetensors.torch", lambda module: saves.watch(module, "load_file", saves.load_file))
    when_imported("safetensors", lambda module: saves.watch(module, "serialize_file", saves.save_file))
    for name in ("save_file", "save_model"):
        watch_one = functools.partial(saves.watch, name=name, answer=saves.save_file)
        when_imported("safetensors.torch", watch_one)


class _Saves:
    def __init__(self, places: Places) -> None:
        self._places = places
        self._outlines: dict[str, Any] = {}  # by name

    def watch(self, module: ModuleType, name: str, answer: Callable[..., None]) -> None:
        replace(module, name, answer, self._places.names.shown)

    def save(self, original: Callable[..., None], obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """torch.save."""
        is_path = isinstance(f, (str, os.PathLike))
        if isinstance(f, io.BytesIO) or not (is_path or hasattr(f, "fileno")):
            original(obj, f, *args, **kwargs)  # memory: the program reads it again
        elif is_plain(obj):
            original(obj, self._places.written(f, keeps=False) if is_path else f, *args, **kwargs)
        else:
            self._answer(f if is_path else None, obj)

    def save_file(self, _original: Callable[..., None], tensors: Any, filename: Any, *_args: Any, **_kw: Any) -> None:
        """Those of safetensors."""
        self._answer(filename, tensors)

    def load(self, original: Callable[..., Any], f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        """torch.load."""
        name = self._empty(f)
        if name is None:
            return original(self._places.found(f), map_location, *args, **kwargs)
        return self._rebuilt(name, lambda device: mapped(device, map_location))

    def load_file(self, original: Callable[..., Any], filename: Any, device: Any = "cpu", **kwargs: Any) -> Any:
        """safetensors.torch.load_file."""
        name = self._empty(filename)
        if name is None:
            return original(self._places.found(filename), device, **kwargs)
        return self._rebuilt(name, lambda _device: device)

    def _empty(self, path: Any) -> str | None:
        """The name, of a checkpoint that was answered without its bytes."""
        name = self._places.names.name(path)
        if name is None or not self._places.is_above(name):
            return None
        return name if os.path.getsize(self._places.names.above(name)) == 0 else None

    def _rebuilt(self, name: str, device_of: Callable[[Any], Any]) -> Any:
        if name not in self._outlines:
            raise RuntimeError(f"{name} was saved in this trial of memtrace fit without its tensors, {_NO_LOAD}")
        return rebuilt(self._outlines[name], device_of)

    def _answer(self, path: Any, obj: Any) -> None:
        """Leaves an empty file, but none in a cache, where other programs would read it."""
        name = None if path is None else self._places.names.name(path)
        if name is not None:
            with open(self._places.written(path, keeps=False, is_counted=False), "wb"):
                pass
            self._outlines.pop(name, None)
            with contextlib.suppress(UnknownFormError):
                self._outlines[name] = outline(obj)
        self._places.kept.save(name or "")


def mapped(device: Any, map_location: Any) -> Any:
    """Where torch.load would put a tensor of this device; a function of the program's would want its storage."""
    if map_location is None or callable(map_location):
        return device
    if isinstance(map_location, dict):
        return map_location.get(str(device), device)
    return map_location
