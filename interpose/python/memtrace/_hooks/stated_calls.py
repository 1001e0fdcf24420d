# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Library functions whose allocations all have one role."""

import functools
from collections.abc import Mapping
from types import ModuleType

from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._process.session import Session

REASON = "everything that it allocates has one role"
# Names by module; "Class.name" is a method or a static method. Tables have this type annotation and literal entries, so
# that cmake/check_patches.py can list them.
Calls = Mapping[str, tuple[str, ...]]


def watch(session: Session, role: int, calls: Calls) -> None:
    """States `role` for allocations of these functions, once their modules are imported. Skips missing ones."""
    for name, functions in calls.items():
        when_imported(name, functools.partial(_watch_module, session, role, name, functions))


def _watch_module(session: Session, role: int, library: str, names: tuple[str, ...], module: ModuleType) -> None:
    for name in names:
        of, _, last = name.rpartition(".")
        owner = getattr(module, of, None) if of else module
        function = getattr(owner, last, None)
        if function is None:
            continue
        stated = session.with_role(role, function)
        patches.put(owner, last, stated, f"{library}.{name}: {REASON}")
