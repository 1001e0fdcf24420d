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
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session
from memtrace._text.say import say

_ALL = (
    modules.watch,
    module_labels.watch,
    passes.watch_backward,
    passes.watch_optimizers,
    recomputation.watch,
    generation.watch,
    checkpoints.watch,
    placement.watch,
    communication.watch,
    job_groups.watch,
    profilers.watch,
    threads.watch,
    training_need.watch,
    loading.watch,
    deleted_models.watch,
    user_source.watch,
    keepers.watch,
    bound_names.watch,
    dead_cycles.watch,
    kept_failures.watch,
    variables.watch,
    summed_passes.watch,
    allocator_counts.watch,
)


def register(torch: ModuleType, session: Session) -> None:
    """Registers all hooks of this package with torch, once a process.

    A hook that this torch does not have a place for is left out, with a sentence.
    """
    for watch in _ALL:
        try:
            watch(torch, session)
        except Exception as error:
            raise_if_from_outside(error)
            what = watch.__module__.rpartition(".")[2].replace("_", " ")
            say(
                f"memtrace could not follow {what} ({type(error).__name__}: {error}). "
                "The trace lacks what that would have told."
            )
