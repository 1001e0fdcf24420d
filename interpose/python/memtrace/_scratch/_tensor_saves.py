# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of safetensors: files in the scratch folder with the header, and a hole for the tensors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memtrace._patching.import_watch import when_imported
from memtrace._scratch import _tensor_files
from memtrace._scratch._places import Places
from memtrace._scratch._replacing import outside, replace

if TYPE_CHECKING:
    import torch
    from _typeshed import StrOrBytesPath
    from torch import Tensor

    from memtrace._scratch._tensor_files import Saved


def watch(places: Places) -> None:
    """Replaces them once safetensors is imported; code that imports the functions by name gets ours."""
    saves, show = _TensorSaves(places), places.names.shown
    when_imported("safetensors", lambda module: replace(module, "serialize_file", saves.save_file, show))
    when_imported("safetensors", lambda module: replace(module, "safe_open", saves.safe_open, show))
    when_imported("safetensors.torch", lambda module: replace(module, "save_file", saves.save_file, show))
    when_imported("safetensors.torch", lambda module: replace(module, "load_file", saves.load_file, show))
    replace(shutil, "copyfile", saves.copyfile, show)


class _TensorSaves:
    def __init__(self, places: Places) -> None:
        self._places = places

    def save_file(
        self,
        _original: Callable[..., None],
        tensors: Mapping[str, Saved],
        filename: StrOrBytesPath,
        metadata: dict[str, str] | None = None,
        **_kwargs: object,
    ) -> None:
        """Writes a hollow file. Nothing stays in a cache, where other programs would read it."""
        name = self._places.names.name(filename)
        if name is not None:
            path = self._places.written(filename, keeps=False, is_counted=False)
            _tensor_files.write(path, tensors, metadata)
        self._places.kept.save(name or "")

    def safe_open(
        self, original: Callable[..., object], filename: StrOrBytesPath, *args: object, **kwargs: object
    ) -> object:
        """Opens a file for safetensors, which reads in Rust."""
        return original(self._places.found(filename), *args, **kwargs)

    def load_file(
        self,
        original: Callable[..., dict[str, Tensor]],
        filename: StrOrBytesPath,
        device: torch.device | str | int = "cpu",
        **kwargs: object,
    ) -> dict[str, Tensor]:
        """Loads a hollow file, because for a card safetensors would first read it, with its hole, into host memory."""
        found = self._places.found(filename)
        if not _tensor_files.ends_with_hole(found):
            return original(found, device, **kwargs)
        return {name: tensor.to(device) for name, tensor in original(found, **kwargs).items()}

    def copyfile(
        self, original: Callable[..., object], src: StrOrBytesPath, dst: StrOrBytesPath, **kwargs: object
    ) -> object:
        """Copies a hollow file as one; shutil's other functions use this, and it would write the hole out."""
        found, there = self._places.found(src), self._places.found(dst)
        is_onto_itself = os.path.exists(there) and os.path.exists(found) and os.path.samefile(found, there)
        if self._places.names.name(dst) is None or is_onto_itself or not _tensor_files.ends_with_hole(found):
            with outside():
                return original(src, dst, **kwargs)
        _tensor_files.copy(found, self._places.written(dst, keeps=False))
        return dst
