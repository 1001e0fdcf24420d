# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `os` that have two names: renaming and links."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtrace._scratch import _listing
from memtrace._scratch._names import beside
from memtrace._scratch._places import Places
from memtrace._scratch._replacing import replace

if TYPE_CHECKING:
    from _typeshed import StrOrBytesPath


def watch(places: Places) -> None:
    """Replaces them from now on."""
    moves = _Moves(places)
    for name, answer in (
        ("rename", moves.rename),
        ("replace", moves.rename),
        ("link", moves.link),
        ("symlink", moves.symlink),
    ):
        replace(os, name, answer, places.names.shown)


class _Moves:
    def __init__(self, places: Places) -> None:
        self._places = places

    def rename(
        self,
        original: Callable[..., object],
        src: StrOrBytesPath,
        dst: StrOrBytesPath,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        """Renames the file that the program sees; the user's file stays."""
        src, dst = beside(src, src_dir_fd), beside(dst, dst_dir_fd)
        names = self._places.names
        old, new = names.name(src), names.name(dst)
        if old is None or new is None:
            original(src, dst)
            return
        if not self._places.exists(old):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), src, None, dst)
        if old == new:
            return
        self._copy_to_scratch(old)
        self._places.path_in_made_folder(dst, new)
        original(names.above(old), names.above(new))
        self._places.delete(old)
        self._places.delete(new)
        self._places.kept.file(new)

    def link(
        self,
        original: Callable[..., object],
        src: StrOrBytesPath,
        dst: StrOrBytesPath,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        **kwargs: object,
    ) -> None:
        """Copies a user's file instead of linking it."""
        src, dst = beside(src, src_dir_fd), beside(dst, dst_dir_fd)
        names = self._places.names
        old, new = names.name(src), names.name(dst)
        if old is None or new is None:
            original(src, dst, **kwargs)
            return
        above = self._places.made(dst, new)
        if self._places.is_above(old) or not self._places.is_below(old):
            original(names.above(old), above, **kwargs)
        else:
            self._places.copy(old, os.fsdecode(above))

    def symlink(
        self,
        original: Callable[..., object],
        src: StrOrBytesPath,
        dst: StrOrBytesPath,
        *args: object,
        dir_fd: int | None = None,
    ) -> None:
        """Links to the scratch folder if the target is there, otherwise to the user's file."""
        dst = beside(dst, dir_fd)
        names = self._places.names
        new = names.name(dst)
        if new is None:
            original(src, dst, *args)
            return
        target, above = os.fsdecode(src), os.fsdecode(self._places.made(dst, new))
        name = names.name(os.path.join(os.path.dirname(new), target))
        if name is not None and self._places.is_above(name):
            target = target if not os.path.isabs(target) else names.above(name)
        elif name is not None and self._places.is_below(name):
            target = name
        original(target, above, *args)

    def _copy_to_scratch(self, name: str) -> None:
        """Makes the scratch folder hold all of it."""
        above = self._places.names.above(name)
        if os.path.isdir(above if self._places.is_above(name) else name):
            os.makedirs(above, exist_ok=True)
            for last in _listing.names_in(self._places, name):
                self._copy_to_scratch(os.path.join(name, last))
        elif not self._places.is_above(name):
            os.makedirs(os.path.dirname(above), exist_ok=True)
            self._places.copy(name, above)
