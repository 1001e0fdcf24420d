# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The models of the program: modules that have parts and are not parts themselves."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from memtrace._process.identity_map import IdentityMap

if TYPE_CHECKING:
    from torch.nn import Module


class ModuleRoots:
    """Knows which module was put into which. Thread rule: any thread."""

    def __init__(self) -> None:
        """Starts without modules."""
        self._wholes: IdentityMap[Module, bool] = IdentityMap()
        self._whole_of: IdentityMap[Module, weakref.ref[Module]] = IdentityMap()

    def registered(self, whole: Module, _name: str, part: Module) -> None:
        """Notes that `part` is a submodule of `whole` from now on; of several wholes the latest counts."""
        if part is None:
            return
        self._wholes.set(whole, True)
        self._whole_of.set(part, weakref.ref(whole))

    def has(self, module: Module) -> bool:
        """True if `module` is one of them."""
        whole = self._whole_of.get(module)
        return (whole is None or whole() is None) and self._wholes.get(module) is not None

    def alive(self) -> list[Module]:
        """Lists the modules with parts that are part of no living module."""
        return [module for module, _ in self._wholes.items() if self.has(module)]
