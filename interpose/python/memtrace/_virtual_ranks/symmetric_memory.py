# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Symmetric memory of torch: its ranks exchange addresses through the store, and virtual ranks have none."""

import functools
from types import ModuleType
from typing import Any

from memtrace import _patches
from memtrace._virtual_ranks.groups import find


def prepare(module: ModuleType) -> None:
    """Makes torch.distributed._symmetric_memory refuse groups with virtual ranks, where it would wait for ever."""
    for name, place in (("enable_symm_mem_for_group", 0), ("rendezvous", 1)):
        if hasattr(module, name):
            _patches.put(
                module,
                name,
                _refusing(getattr(module, name), place),
                "torch.distributed._symmetric_memory.*: refuses groups with virtual ranks",
            )


def _refusing(function: Any, place: int) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> object:
        given: Any = args[place] if len(args) > place else kwargs.get("group_name", kwargs.get("group"))
        group = find(given if isinstance(given, str) else given.group_name)
        if group is not None and not group.ranks.are_all_real:
            raise RuntimeError(
                "Symmetric memory cannot be used with virtual ranks: each rank needs the others' addresses. Run all "
                "ranks of that group (--ranks), or switch symmetric memory off in the program."
            )
        return function(*args, **kwargs)

    return call
