# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of torch: files in the scratch folder with the form of the saved object, without its tensors' bytes.

The card holds no values, and its tensors would cost the host their size. Plain data of the host is written normally,
because programs keep small caches by torch.save and read them again.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
from collections.abc import Callable
from types import ModuleType
from typing import IO, TYPE_CHECKING

from memtrace._patching.import_watch import when_imported
from memtrace._scratch._outlines import MARK, outline, rebuild
from memtrace._scratch._places import Places
from memtrace._scratch._plain_data import is_plain
from memtrace._scratch._replacing import outside, replace

if TYPE_CHECKING:
    File = str | os.PathLike[str] | IO[bytes]  # accepted by torch.save and torch.load

_NOT_PICKLED = (
    "saved in this trial of memtrace fit without its contents, which pickle cannot save. It cannot be loaded."
)
_UNPICKLABLE = (pickle.PicklingError, AttributeError, TypeError)  # raised by pickle, not by the program's code


def watch(places: Places) -> None:
    """Replaces them once torch is imported; code that imports the functions by name gets ours."""
    saves = _Saves(places)
    when_imported("torch.serialization", lambda module: saves.watch(module, "save", saves.save))
    when_imported("torch.serialization", lambda module: saves.watch(module, "load", saves.load))


class _Saves:
    def __init__(self, places: Places) -> None:
        self._places = places

    def watch(self, module: ModuleType, name: str, answer: Callable[..., object]) -> None:
        replace(module, name, answer, self._places.names.shown)

    def save(self, original: Callable[..., None], obj: object, f: File, *args: object, **kwargs: object) -> None:
        """Answers torch.save."""
        is_path = isinstance(f, (str, os.PathLike))
        if isinstance(f, io.BytesIO) or not (is_path or hasattr(f, "fileno")):
            with outside():
                original(obj, f, *args, **kwargs)  # in memory: the program reads it again
        elif is_plain(obj):
            original(obj, self._places.written(f, keeps=False) if is_path else f, *args, **kwargs)
        else:
            self._answer(f, is_path, obj)

    def load(
        self, original: Callable[..., object], f: File, map_location: object = None, *args: object, **kwargs: object
    ) -> object:
        """Answers torch.load."""
        found = self._places.found(f)
        data = _outline_in(found)  # type: ignore[arg-type]  # text stays text
        with outside():  # the program's classes are imported, and run their own code
            if data is None:
                return original(found, map_location, *args, **kwargs)
            if not data:
                raise RuntimeError(f"{f} was {_NOT_PICKLED}")
            return rebuild(data, map_location, _is_weights_only(*args, **kwargs))  # type: ignore[arg-type]  # torch.load's

    def _answer(self, f: File, is_path: bool, obj: object) -> None:
        """Writes the outline. Nothing stays in a cache, where other programs would read it."""
        called = f if is_path else getattr(f, "name", None)
        name = self._places.names.name(called)
        if is_path and name is not None:
            with open(self._places.written(f, keeps=False, is_counted=False), "wb") as file:  # type: ignore[arg-type]  # a path
                file.write(MARK + _outline_of(obj))
        elif not is_path and (name is not None or not isinstance(called, str)):
            f.write(MARK + _outline_of(obj))  # type: ignore[union-attr]  # no path
        self._places.kept.save(name if is_path and name else "")


def _outline_of(obj: object) -> bytes:
    """Returns the outline; b"" for an object that only the program's own pickle module can pickle."""
    with outside(), contextlib.suppress(*_UNPICKLABLE):
        return outline(obj)
    return b""


def _outline_in(f: File) -> bytes | None:
    """Returns the contents of a file that was written without its bytes; leaves another file at its beginning."""
    with contextlib.suppress(OSError):
        if isinstance(f, (str, os.PathLike)):
            with open(f, "rb") as file:
                return _outline_in(file)
        if hasattr(f, "tell") and hasattr(f, "seek"):
            begin = f.tell()
            if f.read(len(MARK)) == MARK:
                return bytes(f.read())
            f.seek(begin)
    return None


def _is_weights_only(pickle_module: object = None, *, weights_only: bool | None = None, **_kwargs: object) -> bool:
    """Decides like torch.load."""
    if weights_only is not None:
        return weights_only
    return pickle_module is None and bool(sys.modules["torch"].__version__ >= (2, 6))
