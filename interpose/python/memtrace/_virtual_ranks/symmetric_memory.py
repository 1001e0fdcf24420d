# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Symmetric memory of torch, whose ranks exchange handles of their memory through the group's store.

A virtual rank has no memory. So a real rank reads its own handle from each key of another rank, and maps its own memory
once for each rank of the group. That takes the addresses of a whole group, and nothing more of the card.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, cast

from memtrace._patching import patches
from memtrace._text.messages import translated
from memtrace._virtual_ranks.groups import Group, find, in_making

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

_SYMMETRIC = "SymmetricMemory/"
_BY_HANDLES = "CUDASymmetricMemory/"  # torch's backend "CUDA"; the others go through NVSHMEM or NCCL

_stores: list[object] = []  # torch's groups keep only the C++ part of a store alive


def allow_own_handles() -> None:
    """Makes torch accept that all ranks of a group name the same card. Call it before torch is imported."""
    os.environ["TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES"] = "1"


def prepare(c10d: ModuleType) -> None:
    """Gives each group with virtual ranks a store that answers for them. Backends of the group do not use it."""
    make = c10d.ProcessGroup.__init__
    store_class = _make_store_class(c10d.Store)

    @functools.wraps(make)
    def make_with_own_store(process_group: object, *args: object, **kwargs: object) -> None:
        group = in_making()
        if len(args) == 3 and group is not None and not group.ranks.are_all_real:
            _stores.append(store_class(cast("Store", args[0]), group))
            args = (_stores[-1], *args[1:])
        make(process_group, *args, **kwargs)

    patches.put(
        c10d.ProcessGroup,
        "__init__",
        make_with_own_store,
        "torch.distributed.ProcessGroup.__init__: its store answers for virtual ranks of symmetric memory",
    )


def prepare_old(symmetric: ModuleType) -> None:
    """The same for torch up to 2.7, where a group gets symmetric memory and a store for it by a call of its own.

    Later versions take the group's store and need no such call. `symmetric` is torch.distributed._symmetric_memory.
    """
    if not hasattr(symmetric, "_group_name_to_store") or not hasattr(symmetric, "enable_symm_mem_for_group"):
        return
    enable = symmetric.enable_symm_mem_for_group
    store_class = _make_store_class(symmetric.c10d.Store)

    @functools.wraps(enable)
    def enable_with_own_store(group_name: str) -> None:
        group = find(group_name)
        if group is None or group.ranks.are_all_real:
            enable(group_name)
        elif group_name not in symmetric._group_name_to_store:
            c10d = symmetric.c10d
            groups_store = c10d._get_process_group_store(c10d._resolve_process_group(group_name))
            store = store_class(groups_store, group)
            symmetric._group_name_to_store[group_name] = store
            symmetric._SymmetricMemory.set_group_info(group_name, group.rank, group.ranks.size, store)

    patches.put(
        symmetric,
        "enable_symm_mem_for_group",
        enable_with_own_store,
        "torch.distributed._symmetric_memory.enable_symm_mem_for_group: its store answers for virtual ranks",
    )


def _make_store_class(store: type[Store]) -> Callable[[Store, Group], Store]:
    class StoreOfOneRank(store):  # type: ignore[misc, valid-type]
        """The store of a group, in which all handles of symmetric memory are this rank's."""

        def __init__(self, real: Store, group: Group) -> None:
            super().__init__()
            self._real = real
            self._group = group
            self._handles: dict[str, bytes] = {}  # by the key without the rank

        def set(self, key: str, value: bytes) -> None:
            if _SYMMETRIC not in key:
                self._real.set(key, value)  # type: ignore[arg-type]  # it also takes bytes
                return
            _check(key, self._group)
            self._handles[_without_rank(key)] = value

        def get(self, key: str) -> bytes:
            return self._handles[_without_rank(key)] if _SYMMETRIC in key else bytes(self._real.get(key))

        def wait(self, keys: list[str], *timeout: object) -> None:
            others = [key for key in keys if _SYMMETRIC not in key]
            if others:
                self._real.wait(others, *timeout)

        def add(self, key: str, amount: int) -> int:
            return int(self._real.add(key, amount))

        def check(self, keys: list[str]) -> bool:
            return bool(self._real.check(keys))

        def delete_key(self, key: str) -> bool:
            return bool(self._real.delete_key(key))

    return StoreOfOneRank


def _without_rank(key: str) -> str:
    return key.rsplit("/", 1)[0]


def _check(key: str, group: Group) -> None:
    if not key.startswith(_BY_HANDLES):
        raise RuntimeError(
            translated(
                "Symmetric memory of NVSHMEM or NCCL cannot be used with virtual ranks. Use torch's backend CUDA "
                "(TORCH_SYMMMEM=CUDA), or switch symmetric memory off in the program."
            )
        )
    if not group.is_on_one_machine:
        raise RuntimeError(
            translated(
                "Symmetric memory needs all ranks of its group on one machine, but this group has ranks of several. "
                "Use groups of one machine, or switch symmetric memory off in the program."
            )
        )
