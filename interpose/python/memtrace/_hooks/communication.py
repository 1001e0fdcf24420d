# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers of collectives (role comm): DistributedDataParallel's buckets, and FSDP's gathered and scattered tensors.

A gradient that lies in a bucket, or is the result of a reduce-scatter, is labelled as a gradient later and counts as
one from its birth on.
"""

import importlib
from types import ModuleType

from memtrace._core.vocabulary import ROLE_COMM
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._process.session import Session


def watch(torch: ModuleType, session: Session) -> None:
    """Watches torch's own data parallelism, as far as this build of torch has it."""
    if not torch.distributed.is_available():
        return

    def state(owner: object, *names: str) -> None:
        for name in names:
            method = getattr(owner, name, None)
            if method is not None:
                patches.put(
                    owner,
                    name,
                    session.with_role(ROLE_COMM, method),
                    "torch.distributed: labels the buffers of DDP and FSDP",
                )

    parallel = importlib.import_module("torch.nn.parallel.distributed").DistributedDataParallel
    state(parallel, "_ddp_init_helper")
    state(getattr(torch.distributed, "Reducer", None), "_rebuild_buckets")
    # Each belongs to a package that other programs do not import.
    when_imported(
        "torch.distributed.fsdp._fully_shard._fsdp_param_group",
        lambda module: state(module.FSDPParamGroup, "unshard", "wait_for_unshard", "post_backward"),
    )
    when_imported(
        "torch.distributed.fsdp._flat_param",
        lambda module: state(
            module.FlatParamHandle, "_alloc_padded_unsharded_flat_param", "_use_low_precision_shard", "unshard_grad"
        ),
    )
