# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Notes when the program merges adapters into its model, or exchanges its weights for averaged ones.

Both may take the weights twice for a moment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._core.vocabulary import MOMENT_BEST_MODEL
from memtrace._fit.moments.job import Job
from memtrace._fit.moments.library_methods import method_of
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

_LIGHTNING = ("lightning.pytorch.callbacks.weight_averaging", "pytorch_lightning.callbacks.weight_averaging")


def watch(job: Job) -> None:
    """Watches peft, diffusers and Lightning, once they are imported."""
    when_imported("peft.tuners.tuners_utils", lambda module: _watch_peft(module, job))
    when_imported("diffusers.training_utils", lambda module: _watch_diffusers(module, job))
    for name in _LIGHTNING:
        when_imported(name, lambda module: _watch_lightning(module, job))


def _watch_peft(module: ModuleType, job: Job) -> None:
    if merge := method_of(module, "BaseTuner.merge_and_unload", MOMENT_BEST_MODEL):
        patches.put(
            merge.owner,
            "merge_and_unload",
            _noted(merge.original, job),
            "peft.BaseTuner.merge_and_unload: notes when adapters are merged, in a trial of fit",
        )


def _watch_diffusers(module: ModuleType, job: Job) -> None:
    for name in ("store", "copy_to", "restore"):
        if exchange := method_of(module, f"EMAModel.{name}", MOMENT_BEST_MODEL):
            patches.put(
                exchange.owner,
                name,
                _noted(exchange.original, job),
                "diffusers.training_utils.EMAModel: notes when averaged weights are exchanged, in a trial of fit",
            )


def _watch_lightning(module: ModuleType, job: Job) -> None:
    if swap := method_of(module, "WeightAveraging._swap_models", MOMENT_BEST_MODEL):
        patches.put(
            swap.owner,
            "_swap_models",
            _noted(swap.original, job),
            "lightning.WeightAveraging._swap_models: notes when averaged weights are exchanged, in a trial of fit",
        )


def _noted(exchange: Callable[..., Any], job: Job) -> Callable[..., Any]:
    @functools.wraps(exchange)
    def noted(*args: object, **kwargs: object) -> object:
        with job.rows.during(MOMENT_BEST_MODEL):
            return exchange(*args, **kwargs)

    return noted
