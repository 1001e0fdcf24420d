# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the models of the program, called or not, by looking at every object of the process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.nn import Module


def modules(torch: ModuleType) -> list[Module]:
    """Returns every module whose construction has begun, the oldest first."""
    found = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.nn.Module)]
    return [module for module in found if "_modules" in vars(module)]


def roots(torch: ModuleType) -> list[Module]:
    """Returns those that are not part of another."""
    found = modules(torch)
    parts = {id(part) for module in found for part in vars(module)["_modules"].values()}
    return [module for module in found if id(module) not in parts]


def transformers_models(root: Module) -> Iterator[tuple[str, Module]]:
    """Yields the models of transformers in a module that are not part of another such model, with their paths."""
    inside: set[int] = set()
    for path, part in root.named_modules():
        if id(part) not in inside and any(base.__name__ == "PreTrainedModel" for base in type(part).__mro__):
            inside.update(map(id, part.modules()))
            yield path, part
