# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Registers all hooks of this package with torch, without touching the script."""

from __future__ import annotations

from types import ModuleType

from memtrace._holders import bound_names, dead_cycles, keepers, kept_failures, summed_passes, user_source, variables
from memtrace._hooks import (
    allocator_counts,
    checkpoints,
    communication,
    deleted_models,
    generation,
    job_groups,
    loading,
    module_labels,
    modules,
    passes,
    placement,
    profilers,
    recomputation,
    threads,
    training_need,
)
from memtrace._process.session import Session


def register(torch: ModuleType, session: Session) -> None:
    """Registers all hooks of this package with torch, once a process."""
    modules.watch(torch, session)
    module_labels.watch(torch, session)
    passes.watch_backward(torch, session)
    passes.watch_optimizers(torch, session)
    recomputation.watch(torch, session)
    generation.watch(torch, session)
    checkpoints.watch(torch, session)
    placement.watch(torch, session)
    communication.watch(torch, session)
    job_groups.watch(torch, session)
    profilers.watch(torch, session.core)
    threads.watch(session.core)
    training_need.watch(torch, session)
    loading.watch(torch, session)
    deleted_models.watch(session)
    user_source.watch(session)
    keepers.watch(torch, session)
    bound_names.watch(torch, session)
    dead_cycles.watch(torch, session)
    kept_failures.watch(torch, session)
    variables.watch(torch, session)
    summed_passes.watch(torch, session)
    allocator_counts.watch(torch, session)
