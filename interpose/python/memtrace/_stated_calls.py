# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of libraries all of whose allocations have one role."""

import functools
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from memtrace import _patches
from memtrace._import_watch import when_imported
from memtrace._session import Session

# Names by module; "Class.name" is a method or a static method.
Calls = Mapping[str, tuple[str, ...]]


def watch(session: Session, role: int, calls: Calls) -> None:
    """States `role` of what these functions allocate, once their modules are imported. Missing ones are passed over."""
    for name, functions in calls.items():
        when_imported(name, functools.partial(_watch_module, session, role, functions))


def _watch_module(session: Session, role: int, names: tuple[str, ...], module: ModuleType) -> None:
    for name in names:
        of, _, last = name.rpartition(".")
        owner: Any = getattr(module, of, None) if of else module
        function = getattr(owner, last, None)
        if function is None:
            continue
        stated: Any = session.stating(role, function)
        _patches.put(
            owner,
            last,
            stated,
            "functions of _checkpoints.py and _generation.py: all that they allocate has one role",
        )
