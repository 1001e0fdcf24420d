# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes all ranks of torch.distributed end together; otherwise the others would wait for one for ever."""

from __future__ import annotations

import contextlib
import datetime
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._virtual_ranks.ranks import job_from_environment

if TYPE_CHECKING:
    from torch.distributed import Store

# Ranks that end their steps this far apart do not train together.
_PATIENCE = datetime.timedelta(seconds=60)


def all_ranks_settled(torch: ModuleType, step: int, is_settled: bool) -> bool:
    """True if all ranks have settled at this step; without other ranks, if this one has.

    Blocks until the last of them ends the step, as their next collective would.
    """
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return is_settled
    ranks = _number_of_processes(distributed)
    if ranks == 1:
        return is_settled
    store = distributed.distributed_c10d._get_default_store()
    key = f"memtrace.fit.{step}"
    try:
        settled = _sum(store, f"{key}.settled", ranks, int(is_settled))
    except RuntimeError:  # it timed out, or the process that keeps the store has ended
        return is_settled
    with contextlib.suppress(RuntimeError):  # that process must not end before the others have read the sum
        _sum(store, f"{key}.read", ranks)
    return settled == ranks


def _number_of_processes(distributed: ModuleType) -> int:
    """Returns how many ranks of the job are processes."""
    job = job_from_environment()
    return int(distributed.get_world_size()) if job is None else len(job.ranks.real)


def _sum(store: Store, key: str, ranks: int, addend: int = 0) -> int:
    """Returns the sum of what each rank adds. Blocks until all have."""
    store.add(key, addend)
    if store.add(f"{key}.count", 1) == ranks:
        store.set(f"{key}.sum", str(store.add(key, 0)))
    store.wait([f"{key}.sum"], _PATIENCE)
    return int(store.get(f"{key}.sum"))
