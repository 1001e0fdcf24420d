# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs code around the execution of a module, whoever imports it and whenever."""

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class ImportWatch:
    """Finds one module as Python would and wraps its execution; ignores every other module.

    It stays until the module is executed, because programs look for a module's spec to see if it is installed.
    """

    def __init__(
        self,
        name: str,
        after: Callable[[ModuleType], object],
        before: Callable[[ModuleSpec], object] = lambda spec: None,
    ) -> None:
        """Calls `before` with the spec, then executes the module, then calls `after` with it."""
        self._name = name
        self._before = before
        self._after = after
        self._thread = threading.local()

    def begin(self) -> None:
        """Starts waiting. A second call does nothing."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Called by Python for each entry of sys.meta_path."""
        if name != self._name or getattr(self._thread, "is_looking", False):
            return None
        self._thread.is_looking = True  # another watch for the module asks all finders, including this one
        try:
            spec = self._find(path, target)
        finally:
            self._thread.is_looking = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_between(module: ModuleType) -> None:
            self._before(spec)
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._after(module)

        spec.loader.exec_module = execute_between  # type: ignore[method-assign]
        return spec

    def _find(self, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if finder is self or find is None else find(self._name, path, target)
            if spec is not None:
                return spec
        return None


def when_imported(name: str, after: Callable[[ModuleType], object]) -> None:
    """Calls `after` with the module: now if it is imported already, else once it is imported."""
    module = sys.modules.get(name)
    if module is not None:
        after(module)
    else:
        ImportWatch(name, after=after).begin()
