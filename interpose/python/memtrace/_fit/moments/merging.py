# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Notes when the script merges adapters into its model, which takes both for a moment."""

from __future__ import annotations

import functools
from types import ModuleType

from memtrace import _patches
from memtrace._fit.moments.job import Job
from memtrace._import_watch import when_imported
from memtrace._vocabulary import MOMENT_BEST_MODEL


def watch(job: Job) -> None:
    """Watches peft, once it is imported."""
    when_imported("peft.tuners.tuners_utils", lambda module: _watch(module, job))


def _watch(module: ModuleType, job: Job) -> None:
    merge = module.BaseTuner.merge_and_unload

    @functools.wraps(merge)
    def noted(*args: object, **kwargs: object) -> object:
        with job.rows.during(MOMENT_BEST_MODEL):
            return merge(*args, **kwargs)

    _patches.put(
        module.BaseTuner,
        "merge_and_unload",
        noted,
        "peft.BaseTuner.merge_and_unload: notes when adapters are merged, in a trial of fit",
    )
