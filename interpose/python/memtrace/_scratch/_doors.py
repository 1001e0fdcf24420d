# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that open a file in C, Rust or C++: they get its name in the scratch folder.

Only functions common in training scripts are covered; others write where the program says (docs/design/fit.md).
"""

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from memtrace._patching.import_watch import when_imported
from memtrace._scratch._places import Places
from memtrace._scratch._replacing import replace


class Door(NamedTuple):
    """A function of a module (`Class.method`), and its argument that names the file or folder."""

    module: str
    function: str
    place: int
    argument: str
    is_folder: bool = False


_DOORS = (
    Door("transformers.tokenization_utils_tokenizers", "TokenizersBackend._save_pretrained", 1, "save_directory", True),
    Door("transformers.tokenization_utils_fast", "PreTrainedTokenizerFast._save_pretrained", 1, "save_directory", True),
    Door("torch.jit._serialization", "save", 1, "f"),
    Door("torch.jit._script", "RecursiveScriptModule.save", 1, "f"),
    Door("torch.autograd.profiler", "profile.export_chrome_trace", 1, "path"),
    Door("sqlite3.dbapi2", "connect", 0, "database"),
    Door("sqlite3", "connect", 0, "database"),
    Door("cv2", "imwrite", 0, "filename"),
)


def watch(places: Places) -> None:
    """Watches them once their modules are imported; some versions lack a function and use another."""
    for door in _DOORS:
        when_imported(door.module, functools.partial(_watch_door, door=door, places=places))


def _watch_door(module: ModuleType, door: Door, places: Places) -> None:
    def answer(original: Callable[..., object], *args: object, **kwargs: object) -> object:
        given = list(args)
        if len(given) > door.place:
            given[door.place] = _redirected(places, door, given[door.place])
        elif door.argument in kwargs:
            kwargs[door.argument] = _redirected(places, door, kwargs[door.argument])
        return original(*given, **kwargs)

    *owners, name = door.function.split(".")
    holder: object = module
    for owner in owners:
        holder = getattr(holder, owner, None)
    replace(holder, name, answer, places.names.shown)


def _redirected(places: Places, door: Door, path: object) -> object:
    if isinstance(path, str) and path.startswith((":", "file:")):  # not a file's name, but SQLite's own syntax
        return path
    name = places.names.name(path)
    if name is None:
        return path
    if not door.is_folder:
        return places.written(path, keeps=True)
    os.makedirs(places.names.above(name), exist_ok=True)
    return places.names.above(name)
