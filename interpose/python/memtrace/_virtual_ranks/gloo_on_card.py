# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives of gloo over tensors on the card, in groups with virtual ranks: they go over copies on the host.

gloo itself copies such tensors to the host, so the card's memory is the same. The kernels of host_collectives.py then
exchange the copies.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard

from memtrace._patching import patches
from memtrace._virtual_ranks.groups import find

if TYPE_CHECKING:
    from torch import Tensor
    from torch._C._distributed_c10d import ProcessGroup, Work

# Each writes its first argument. gloo sends and receives on the host only.
_METHODS = (
    "_allgather_base",
    "_reduce_scatter_base",
    "allgather",
    "allgather_coalesced",
    "allgather_into_tensor_coalesced",
    "allreduce",
    "allreduce_coalesced",
    "alltoall",
    "alltoall_base",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor_coalesced",
    "scatter",
)


def prepare(c10d: ModuleType) -> None:
    """Replaces the methods by which torch's groups exchange."""
    for name in _METHODS:
        patches.put(
            c10d.ProcessGroup,
            name,
            _over_host(getattr(c10d.ProcessGroup, name)),
            "torch.distributed.ProcessGroup.*: gloo with virtual ranks exchanges copies of the card's tensors",
        )


def _over_host(method: Callable[..., Work]) -> Callable[..., Work]:
    @functools.wraps(method)
    def call(process_group: ProcessGroup, *args: object, **kwargs: object) -> Work:
        group = find(process_group.group_name)
        if group is None or not group.is_gloo_on_card or not args:
            return method(process_group, *args, **kwargs)
        written: list[tuple[Tensor, Tensor]] = []
        first = _on_host(args[0], lambda tensor, copy: written.append((tensor, copy)))
        others = [_on_host(argument, lambda tensor, copy: None) for argument in args[1:]]
        work = method(process_group, first, *others, **kwargs)
        work.wait()
        for tensor, copy in written:
            tensor.copy_(copy)
        return work

    return call


def _on_host(argument: object, note: Callable[[Tensor, Tensor], object]) -> object:
    """Returns the argument with copies in the place of the card's tensors, also within lists."""
    if isinstance(argument, list | tuple):
        return [_on_host(element, note) for element in argument]
    if not _is_on_card(argument):
        return argument
    copy = argument.cpu()
    note(argument, copy)
    return copy


def _is_on_card(argument: object) -> TypeGuard[Tensor]:
    return bool(getattr(argument, "is_cuda", False))
