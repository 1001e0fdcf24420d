# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Classes, functions and methods of other libraries. Many are private, and a release may not have them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, NamedTuple

from memtrace._patching.signal_exceptions import raise_if_from_outside


class Part(NamedTuple):
    """A part of a library that exists."""

    owner: Any  # the module or class that has it
    original: Any


def part_of(module: ModuleType, name: str) -> Part | None:
    """Returns the part "function", "Class" or "Class.method" of the module; None if the installed release has none."""
    of, _, last = name.rpartition(".")
    owner = getattr(module, of, None) if of else module
    original = None if owner is None else getattr(owner, last, None)
    return None if original is None else Part(owner, original)


def imported_part(module: str, name: str) -> Part | None:
    """Imports the module, and returns its part; None if the installed release has no such part or no such module."""
    try:
        return part_of(importlib.import_module(module), name)
    except ImportError as error:
        raise_if_from_outside(error)
        return None
