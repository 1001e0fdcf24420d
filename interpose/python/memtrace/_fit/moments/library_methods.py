# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of other libraries by which moments are made or seen. Many are private, and a release may not have them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from memtrace._fit.gaps import note_missing
from memtrace._text.messages import translated


class Method(NamedTuple):
    """A method that exists."""

    owner: type[Any]
    original: Callable[..., Any]


def method_of(module: ModuleType, name: str, moment: str) -> Method | None:
    """Returns the method "Class.name" of the module; None if the installed release has none.

    A gap of the moment then says that this is why it was not seen. Nothing is named if the program has no such moment.
    """
    of, _, last = name.rpartition(".")
    owner = getattr(module, of, None)
    original = getattr(owner, last, None)
    if owner is not None and original is not None:
        return Method(owner, original)
    note_missing(moment, translated("This $0 has no $1.", module.__name__.partition(".")[0], name))
    return None
