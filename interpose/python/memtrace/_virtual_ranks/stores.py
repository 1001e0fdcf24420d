# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Stores of torch.distributed that wait only for real ranks."""

import functools
import sys
from types import ModuleType

from memtrace import _patches
from memtrace._virtual_ranks.ranks import Job

_WAIT_FOR_WORKERS = 5  # place among TCPStore's arguments, after self


def prepare(c10d: ModuleType, job: Job) -> None:
    """Makes TCPStore return at once: it would wait for as many workers as the job has ranks."""
    store_class = sys.modules["torch._C._distributed_c10d"].TCPStore
    construct = store_class.__init__

    @functools.wraps(construct)
    def construct_at_once(store: object, *args: object, **kwargs: object) -> None:
        arguments = list(args)
        if len(arguments) > _WAIT_FOR_WORKERS:
            arguments[_WAIT_FOR_WORKERS] = False
        else:
            kwargs["wait_for_workers"] = False
        construct(store, *arguments, **kwargs)

    _patches.put(
        store_class,
        "__init__",
        construct_at_once,
        "torch.distributed.TCPStore.__init__: does not wait for virtual ranks",
    )
    _wait_for_real_ranks(c10d, job)


def _wait_for_real_ranks(c10d: ModuleType, job: Job) -> None:
    """The barrier after a group is made, which torch has only with TORCH_DIST_INIT_BARRIER=1."""
    wait = c10d._store_based_barrier

    @functools.wraps(wait)
    def wait_for_real_ranks(
        rank: int, store: object, group_name: str, count: int, *args: object, **kwargs: object
    ) -> object:
        if count != job.ranks.size:
            raise RuntimeError(
                "TORCH_DIST_INIT_BARRIER=1 cannot be used with virtual ranks and a group that only its members make "
                "(use_local_synchronization); remove the variable."
            )
        return wait(rank, store, group_name, len(job.ranks.real), *args, **kwargs)

    _patches.put(
        c10d,
        "_store_based_barrier",
        wait_for_real_ranks,
        "torch.distributed.distributed_c10d._store_based_barrier: does not wait for virtual ranks",
    )


def prepare_rendezvous(rendezvous: ModuleType, job: Job) -> None:
    """Makes the lowest real rank host the store of env:// and tcp://, if rank 0 is virtual."""
    create = rendezvous._create_c10d_store

    @functools.wraps(create)
    def create_at_lowest_rank(hostname: str, port: int, rank: int, *args: object, **kwargs: object) -> object:
        place = job.ranks.index(rank)
        return create(hostname, port, rank if place is None else place, *args, **kwargs)

    _patches.put(
        rendezvous,
        "_create_c10d_store",
        create_at_lowest_rank,
        "torch.distributed.rendezvous._create_c10d_store: the lowest real rank hosts the store",
    )
