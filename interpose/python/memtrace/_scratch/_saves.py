# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: a name that exists, and nothing in it.

The card holds no values, and its tensors would cost the host their size. Plain data of the host is written, into the
scratch folder: programs keep small caches by torch.save and read them again.
"""

import functools
import io
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._import_watch import when_imported
from memtrace._scratch._places import Places
from memtrace._scratch._plain_data import is_plain
from memtrace._scratch._replacing import replace


def watch(places: Places) -> None:
    """Once torch or safetensors is imported; whoever imports their functions by name gets ours."""
    saves = _Saves(places)
    when_imported("torch.serialization", lambda module: saves.watch(module, "save", saves.save))
    when_imported("safetensors", lambda module: saves.watch(module, "serialize_file", saves.save_file))
    for name in ("save_file", "save_model"):
        watch_one = functools.partial(saves.watch, name=name, answer=saves.save_file)
        when_imported("safetensors.torch", watch_one)


class _Saves:
    def __init__(self, places: Places) -> None:
        self._places = places

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
            self._answer(f if is_path else None)

    def save_file(self, _original: Callable[..., None], _tensors: Any, filename: Any, *_args: Any, **_kw: Any) -> None:
        """Those of safetensors."""
        self._answer(filename)

    def _answer(self, path: Any) -> None:
        """Leaves an empty file, but none in a cache, where other programs would read it."""
        name = None if path is None else self._places.names.name(path)
        if name is not None:
            with open(self._places.written(path, keeps=False, is_counted=False), "wb"):
                pass
        self._places.kept.save(name or "")
