# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of Python, torch and other libraries that memtrace wraps. All are replaced here, with a reason.

`memtrace doctor --hooks` lists them; cmake/check_patches.py makes the list from the calls of `put`, and forbids other
ways. What `memtrace fit` does in its trials to keep files away (_scratch) is not included.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

_INHERITED = object()  # the owner had no attribute of its own


class Patch(NamedTuple):
    """An attribute that was replaced."""

    owner: object
    name: str
    before: object  # the value in vars(owner)
    put: object
    reason: str  # begins with the name under which people know the attribute


_lock = threading.Lock()
_patches: list[Patch] = []


def put(
    owner: object,
    name: str,
    replacement: "Callable[..., object] | staticmethod[..., object] | classmethod[Any, ..., object]",
    reason: str,
) -> None:
    """Replaces an attribute of a module or a class by `replacement`, which calls the original.

    `reason` is "library.Class.name: why". A static method stays one; give a class method as one. Later wrappers find
    the original in `__wrapped__`.
    Thread rule: any thread.
    """
    before = vars(owner).get(name, _INHERITED)
    if not hasattr(replacement, "__wrapped__"):
        replacement.__wrapped__ = getattr(owner, name)  # type: ignore[attr-defined]
    if isinstance(before, staticmethod) and not isinstance(replacement, (staticmethod, classmethod)):
        replacement = staticmethod(replacement)
    setattr(owner, name, replacement)
    with _lock:
        _patches.append(Patch(owner, name, before, replacement, reason))


def undo() -> list[Patch]:
    """Undoes the patches, the latest first. Returns those that stay, because others have wrapped them since."""
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
