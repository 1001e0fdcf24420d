# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of Python, of torch and of other libraries that memtrace goes round: each is put in place here, with why.

`memtrace doctor --hooks` lists them; cmake/check_patches.py makes that list of the calls of `put`, and refuses other
ways. What `memtrace fit` changes in its trials alone (_changes, _scratch) is not of it.
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

_INHERITED = object()  # the owner had no attribute of its own


class Patch(NamedTuple):
    """One attribute that was replaced."""

    owner: object
    name: str
    before: object  # as vars(owner) had it
    put: object
    reason: str  # with the name under which people know the attribute before it


_lock = threading.Lock()
_patches: list[Patch] = []


def put(
    owner: object, name: str, replacement: "Callable[..., object] | staticmethod[..., object]", reason: str
) -> None:
    """Puts `replacement`, which calls what was there, in the place of an attribute of a module or a class.

    `reason` is "library.Class.name: why". A static method stays one. Whoever wraps it later finds what was there by
    `__wrapped__`. Any thread.
    """
    before = vars(owner).get(name, _INHERITED)
    if not hasattr(replacement, "__wrapped__"):
        replacement.__wrapped__ = getattr(owner, name)  # type: ignore[attr-defined]
    if isinstance(before, staticmethod) and not isinstance(replacement, staticmethod):
        replacement = staticmethod(replacement)
    setattr(owner, name, replacement)
    with _lock:
        _patches.append(Patch(owner, name, before, replacement, reason))


def undo() -> list[Patch]:
    """Takes back what was put, the latest first. Returns what stays, because somebody has gone round it since."""
    with _lock:
        patches, _patches[:] = list(reversed(_patches)), []
    stays = [patch for patch in patches if not _take_back(patch)]
    with _lock:
        _patches[:0] = reversed(stays)
    return stays


def _take_back(patch: Patch) -> bool:
    if vars(patch.owner).get(patch.name) is not patch.put:
        return False
    if patch.before is _INHERITED:
        delattr(patch.owner, patch.name)
    else:
        setattr(patch.owner, patch.name, patch.before)
    return True
