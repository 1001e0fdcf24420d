# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Process groups of torch.distributed with virtual ranks: NCCL learns which are real, gloo connects only these."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from memtrace._patching import patches
from memtrace._text.say import refuse
from memtrace._virtual_ranks.nccl import NcclLibrary
from memtrace._virtual_ranks.ranks import GroupRanks, Job
from memtrace._virtual_ranks.time_limits import lengthened

if TYPE_CHECKING:
    from torch import Tensor
    from torch._C._distributed_c10d import Backend, ProcessGroup, ProcessGroupNCCL, Work

# torch's processes of a group find the id of its communicator in its store under this key; those of a pair that sends
# and receives, under "LOWER:HIGHER".
_ID = "0"
# The parameters of torch's function that the wrapper reads.
_NEEDED = {"group_size", "group_rank", "global_ranks_in_group", "backend", "store", "group_name", "timeout"}


class IdStore(Protocol):
    """A store of torch, which also takes bytes. torch's own types say that it takes strings."""

    def set(self, key: str, value: bytes, /) -> None: ...


@dataclass(frozen=True)
class Group:
    """A group that this process is a member of."""

    ranks: GroupRanks
    rank: int  # this process's rank in it
    machines: tuple[int, ...]  # of each rank of the group
    nccl_stores: tuple[IdStore, ...]  # where its NCCL backends look for ids
    is_on_one_machine: bool
    is_gloo_on_card: bool  # gloo exchanges its tensors on the card, and some of its ranks are virtual


_groups: dict[str, Group] = {}  # by name
_in_making: list[Group] = []


def find(name: str) -> Group | None:
    """Returns the group of that name; None if torch did not make it by the replaced function."""
    return _groups.get(name)


def of(process_group: ProcessGroup) -> Group:
    """Returns what is known about a process group of torch that was made by the replaced function."""
    return _groups[process_group.group_name]


def in_making() -> Group | None:
    """Returns the group that torch makes at this moment; None if it makes none."""
    return _in_making[-1] if _in_making else None


def prepare(c10d: ModuleType, job: Job, nccl: NcclLibrary) -> None:
    """Replaces the functions of torch that make groups."""
    _make_groups(c10d, job, nccl)
    _never_split(c10d)
    _tell_peers(c10d, nccl)
    _tell_own_contribution(c10d, nccl)


def _make_groups(c10d: ModuleType, job: Job, nccl: NcclLibrary) -> None:
    make = c10d._new_process_group_helper
    signature = inspect.signature(make)
    if not set(signature.parameters) >= _NEEDED:
        refuse(
            "This torch makes process groups in a way that memtrace run --world does not know. Use torch 2.11, or run "
            "all ranks of the job."
        )
    options_name = "backend_options" if "backend_options" in signature.parameters else "pg_options"

    @functools.wraps(make)
    def make_with_virtual_ranks(*args: object, **kwargs: object) -> object:
        given = signature.bind(*args, **kwargs)
        members = given.arguments["global_ranks_in_group"] or range(given.arguments["group_size"])
        if not given.arguments["global_ranks_in_group"]:
            job.check(given.arguments["group_size"], given.arguments["group_rank"])
        if job.rank not in members:
            return make(*args, **kwargs)
        ranks = job.of_group(members)
        devices = _nccl_devices(c10d, given.arguments["backend"])
        store = c10d.PrefixStore(f"{given.arguments['group_name']}/", given.arguments["store"])
        stores = tuple(c10d.PrefixStore(f"{device}/", store) for device in devices)
        by_gloo = not ranks.are_all_real and _is_gloo_on_card(c10d, given.arguments["backend"])
        group = Group(
            ranks=ranks,
            rank=members.index(job.rank),
            machines=job.machines_of(members),
            nccl_stores=stores,
            is_on_one_machine=job.has_on_this_machine(members),
            is_gloo_on_card=by_gloo,
        )
        if devices:
            given.arguments[options_name] = _described(c10d, group, given.arguments.get(options_name))
            given.arguments["timeout"] = lengthened(given.arguments.get("timeout"))
            given.arguments[options_name]._timeout = given.arguments["timeout"]
            _write_id(group, nccl)
        _groups[given.arguments["group_name"]] = group
        _in_making.append(group)
        try:
            return make(*given.args, **given.kwargs)
        finally:
            _in_making.pop()

    patches.put(
        c10d,
        "_new_process_group_helper",
        make_with_virtual_ranks,
        "torch.distributed.distributed_c10d._new_process_group_helper: makes groups with virtual ranks",
    )


def _nccl_devices(c10d: ModuleType, backend: object) -> list[str]:
    """Returns the types of devices for which the group has an NCCL backend, in torch's order."""
    backends = c10d.BackendConfig(c10d.Backend(backend)).get_device_backend_map()
    return [device for device, name in backends.items() if name == c10d.Backend.NCCL]


def _is_gloo_on_card(c10d: ModuleType, backend: object) -> bool:
    backends = c10d.BackendConfig(c10d.Backend(backend)).get_device_backend_map()
    return bool(backends.get("cuda") == c10d.Backend.GLOO)


def _described(c10d: ModuleType, group: Group, given: ProcessGroupNCCL.Options | None) -> ProcessGroupNCCL.Options:
    """Returns a copy of the options by which our NCCL learns about the group's ranks: as its network's name."""
    options: ProcessGroupNCCL.Options = c10d.ProcessGroupNCCL.Options()
    if given is not None:
        options.is_high_priority_stream = given.is_high_priority_stream
        options.config = given.config
    real = ",".join(str(rank) for rank in group.ranks.real)
    options.config.net_name = f"memtrace-ranks:{group.ranks.size}:{real}:{_runs(group.machines)}"  # type: ignore[attr-defined]
    return options


def _runs(machines: Iterable[int]) -> str:
    """Returns "0x8,1x8" for eight ranks in machine 0 and then eight in machine 1."""
    return ",".join(f"{machine}x{len(list(ranks))}" for machine, ranks in groupby(machines))


def _write_id(group: Group, nccl: NcclLibrary) -> None:
    """Writes the id that group rank 0 would write, if that is virtual: the lowest real rank does."""
    real = group.ranks.real
    if real[0] == 0 or group.rank != real[0]:
        return
    for store in group.nccl_stores:
        store.set(_ID, nccl.new_id() if len(real) > 1 else nccl.unused_id())


def _never_split(c10d: ModuleType) -> None:
    """Makes new communicators instead of splits, which need all ranks of the parent. They take the same memory."""

    def get_no_split_source(*args: object, **kwargs: object) -> None:
        return None

    patches.put(
        c10d,
        "_get_split_source",
        get_no_split_source,
        "torch.distributed.distributed_c10d._get_split_source: virtual ranks cannot take part in a split",
    )
    if not hasattr(c10d, "split_group"):
        return
    split = c10d.split_group

    @functools.wraps(split)
    def make_instead_of_split(
        parent_pg: ProcessGroup | None = None,
        split_ranks: list[list[int]] | None = None,
        timeout: timedelta | None = None,
        pg_options: Backend.Options | None = None,
        group_desc: str | None = None,
    ) -> object:
        parent = parent_pg or c10d._get_default_group()
        global_ranks = c10d.get_process_group_ranks(parent)
        own = next((part for part in split_ranks or [] if parent.rank() in part), None)
        if own is None:
            return None
        return c10d.new_group(
            [global_ranks[rank] for rank in own],
            timeout=timeout,
            pg_options=pg_options,
            use_local_synchronization=True,
            group_desc=group_desc,
        )

    patches.put(
        c10d,
        "split_group",
        make_instead_of_split,
        "torch.distributed.split_group: makes a group instead, because virtual ranks cannot take part",
    )


def _tell_peers(c10d: ModuleType, nccl: NcclLibrary) -> None:
    """A pair that sends and receives may get a communicator of its own, of which NCCL knows only "0 and 1"."""

    def with_peer(method: Callable[..., Work]) -> Callable[..., Work]:
        @functools.wraps(method)
        def call(
            process_group: ProcessGroup, tensors: list[Tensor], peer: int, *args: object, **kwargs: object
        ) -> Work:
            group = find(process_group.group_name)
            if group is None:
                return method(process_group, tensors, peer, *args, **kwargs)
            is_real = group.ranks.index(peer) is not None
            if not is_real and peer < group.rank:
                for store in group.nccl_stores:
                    store.set(f"{peer}:{group.rank}", nccl.unused_id())
            with nccl.peer(is_real, group.machines[peer]):
                return method(process_group, tensors, peer, *args, **kwargs)

        return call

    for name in ("send", "recv"):
        patches.put(
            c10d.ProcessGroup,
            name,
            with_peer(getattr(c10d.ProcessGroup, name)),
            "torch.distributed.ProcessGroup.*: tells NCCL if the other rank is virtual",
        )


def _tell_own_contribution(c10d: ModuleType, nccl: NcclLibrary) -> None:
    """A gather is made of receives from all other ranks and a copy of the own part, which NCCL does not see."""
    gather: Callable[..., Work] = c10d.ProcessGroup.gather

    @functools.wraps(gather)
    def gather_with_own(
        process_group: ProcessGroup,
        outputs: list[list[Tensor]] | list[Tensor],
        inputs: list[Tensor] | Tensor,
        *args: object,
        **kwargs: object,
    ) -> Work:
        own = inputs[0] if isinstance(inputs, list) else inputs
        is_on_card = own.is_cuda and own.is_contiguous()
        size = own.numel() * own.element_size() if is_on_card else 0
        with nccl.own_contribution(own.data_ptr() if is_on_card else 0, size):
            return gather(process_group, outputs, inputs, *args, **kwargs)

    patches.put(
        c10d.ProcessGroup,
        "gather",
        gather_with_own,
        "torch.distributed.ProcessGroup.gather: tells NCCL what this rank gives, which stands for virtual ranks",
    )
