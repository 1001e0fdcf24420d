# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prepares torch.distributed for virtual ranks, once it is imported."""

import os
from types import ModuleType

from memtrace._patching.import_watch import when_imported
from memtrace._virtual_ranks import (
    checkpoints,
    gloo_on_card,
    groups,
    host_collectives,
    made_up,
    objects,
    stores,
    symmetric_memory,
    time_limits,
)
from memtrace._virtual_ranks.nccl import NcclLibrary
from memtrace._virtual_ranks.ranks import Job, job_from_environment
from memtrace._virtual_ranks.scout import Scout, scout_from_environment, watch_groups


def watch() -> None:
    """Waits for torch.distributed; does nothing in a process that is not a rank of `memtrace run --world`.

    Call it before torch is imported and after the card is loaded. Raises OSError without the card's libnccl.
    """
    job = job_from_environment()
    if job is None:
        return
    # The process that hosts the store may end before others, whose monitors would report that at length.
    os.environ.setdefault("TORCH_NCCL_ENABLE_MONITORING", "0")
    if job.ranks.are_all_real:
        return
    nccl = NcclLibrary()
    symmetric_memory.allow_own_handles()
    # Above this, torch gets one id from each of several ranks.
    os.environ["TORCH_NCCL_RANKS_PER_ROOT"] = str(job.ranks.size + 1)
    # Since 2.15, "nccl" is another process group (nccl2), whose ranks find each other in ways that are not known here.
    os.environ["TORCH_DIST_USE_NCCL2"] = "0"
    scout = scout_from_environment(job)
    when_imported("torch.distributed.distributed_c10d", lambda c10d: _prepare(c10d, job, nccl, scout))
    when_imported("torch.distributed.rendezvous", lambda rendezvous: stores.prepare_rendezvous(rendezvous, job))
    when_imported("torch.distributed._symmetric_memory", symmetric_memory.prepare_old)
    when_imported("torch.distributed.checkpoint.default_planner", lambda planner: checkpoints.prepare(planner, job))
    if scout is None:
        made_up.say_at_exit(job, nccl)


def _prepare(c10d: ModuleType, job: Job, nccl: NcclLibrary, scout: Scout | None) -> None:
    stores.prepare(c10d, job)
    groups.prepare(c10d, job, nccl)
    host_collectives.prepare(c10d)
    gloo_on_card.prepare(c10d)
    objects.prepare(c10d, job, None if scout is None else scout.exchanges)
    symmetric_memory.prepare(c10d)
    time_limits.prepare(c10d)
    if scout is not None:
        watch_groups(c10d, scout)
