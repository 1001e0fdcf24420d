# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The models of the program: modules that have parts and are part of nothing."""

import weakref
from typing import Any

from memtrace._identity_map import IdentityMap


class ModuleRoots:
    """Knows which module was put into which. Thread rule: any thread."""

    def __init__(self) -> None:
        """Knows no module."""
        self._wholes: IdentityMap[bool] = IdentityMap()
        self._whole_of: IdentityMap[weakref.ref[Any]] = IdentityMap()

    def registered(self, whole: Any, _name: str, part: Any) -> None:
        """`part` is a submodule of `whole` from now on; of several wholes the latest counts."""
        if part is None:
            return
        self._wholes.set(whole, True)
        self._whole_of.set(part, weakref.ref(whole))

    def has(self, module: Any) -> bool:
        """Tells whether `module` is one of them."""
        whole = self._whole_of.get(module)
        return (whole is None or whole() is None) and self._wholes.get(module) is not None

    def alive(self) -> list[Any]:
        """Lists the modules with parts that are part of no living module."""
        return [module for module, _ in self._wholes.items() if self.has(module)]
