# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Stores of torch.distributed that wait only for real ranks."""

import functools
import sys
from collections.abc import Callable
from types import ModuleType

from memtrace._patching import patches
from memtrace._text.messages import translated
from memtrace._virtual_ranks.program_line import program_line
from memtrace._virtual_ranks.ranks import Job

# Places among TCPStore's arguments, after self.
_WORLD_SIZE = 2
_WAIT_FOR_WORKERS = 5


def prepare(c10d: ModuleType, job: Job) -> None:
    """Makes TCPStore wait for the real ranks, where it would wait for as many workers as the job has ranks.

    The rank that hosts the store must not end before the others are connected. A store for another number of workers
    does not wait.
    """
    store_class = sys.modules["torch._C._distributed_c10d"].TCPStore
    construct = store_class.__init__

    @functools.wraps(construct)
    def construct_for_real_ranks(store: object, *args: object, **kwargs: object) -> None:
        arguments = list(args)

        def replace(place: int, name: str, value: object) -> None:
            if len(arguments) > place:
                arguments[place] = value
            else:
                kwargs[name] = value

        count = arguments[_WORLD_SIZE] if len(arguments) > _WORLD_SIZE else kwargs.get("world_size")
        if count == job.ranks.size:
            replace(_WORLD_SIZE, "world_size", len(job.ranks.real))
        else:
            replace(_WAIT_FOR_WORKERS, "wait_for_workers", False)
        construct(store, *arguments, **kwargs)

    patches.put(
        store_class,
        "__init__",
        construct_for_real_ranks,
        "torch.distributed.TCPStore.__init__: does not wait for virtual ranks",
    )
    _wait_for_real_ranks(c10d, job)
    _explain_missing_keys(c10d)


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

    patches.put(
        c10d,
        "_store_based_barrier",
        wait_for_real_ranks,
        "torch.distributed.distributed_c10d._store_based_barrier: does not wait for virtual ranks",
    )


def _explain_missing_keys(c10d: ModuleType) -> None:
    """A key that a virtual rank would write never comes: after torch's time limit, the error says so."""

    def explained(method: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(method)
        def call(store: object, *args: object, **kwargs: object) -> object:
            try:
                return method(store, *args, **kwargs)
            except c10d.DistStoreError as error:
                raise c10d.DistStoreError(f"{error}\n{_missing_key()}") from error

        return call

    for name in ("get", "wait"):
        patches.put(
            c10d.Store,
            name,
            explained(getattr(c10d.Store, name)),
            "torch.distributed.Store.*: says if a missing key may be a virtual rank's",
        )


def _missing_key() -> str:
    return translated(
        "$0 waited for a key of the store that no real rank wrote. If a virtual rank would write it, run that rank as "
        "well (memtrace run --ranks).",
        program_line(),
    )


def _prefixed(prefix: str, store: object) -> object:
    return sys.modules["torch._C._distributed_c10d"].PrefixStore(prefix, store)


def prepare_rendezvous(rendezvous: ModuleType, job: Job) -> None:
    """Makes the lowest real rank host the store of env:// and tcp://, if rank 0 is virtual.

    A program that starts torch.distributed again after destroy_process_group gets the same store, which stays alive.
    Its keys get a prefix then, since torch counts its groups anew and would find the ids of the earlier communicators.
    """
    create = rendezvous._create_c10d_store
    made: dict[tuple[str, int], list[object]] = {}  # by host and port; kept, so that the store lives on

    @functools.wraps(create)
    def create_at_lowest_rank(
        hostname: str, port: int, rank: int, world_size: int, *args: object, **kwargs: object
    ) -> object:
        job.check(world_size, rank)
        store = create(hostname, port, job.ranks.index(rank) or 0, world_size, *args, **kwargs)
        earlier = made.setdefault((hostname, port), [])
        earlier.append(store)
        return store if len(earlier) == 1 else _prefixed(f"start-{len(earlier)}", store)

    patches.put(
        rendezvous,
        "_create_c10d_store",
        create_at_lowest_rank,
        "torch.distributed.rendezvous._create_c10d_store: the lowest real rank hosts the store",
    )
