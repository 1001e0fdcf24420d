# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The models of the program, whether they were called or not."""

import gc
from types import ModuleType
from typing import Any


def roots(torch: ModuleType) -> list[Any]:
    """Gives the modules that are no part of another module, the oldest first. Looks at every object of the process."""
    modules = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.nn.Module)]
    parts = {id(part) for module in modules for part in vars(module).get("_modules", {}).values()}
    return [module for module in modules if id(module) not in parts and "_modules" in vars(module)]
