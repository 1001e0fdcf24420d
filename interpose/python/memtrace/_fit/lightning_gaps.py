# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names the gaps that Lightning's Trainer shows, and closes them when the moments have passed."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Protocol

from memtrace._core.vocabulary import MOMENT_CHECKPOINT, MOMENT_EVALUATION
from memtrace._fit.gaps import close_gap, name_gap
from memtrace._fit.planned_steps import PlannedSteps
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._text.messages import translated

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")
_GATHERING = ("fsdp", "deepspeed", "model_parallel")  # words in the names of strategies that gather to save


class _Module(Protocol):
    """The attributes of Lightning's module that are read."""

    automatic_optimization: bool


class _Trainer(Protocol):
    """The attributes of Lightning's trainer that are read."""

    estimated_stepping_batches: float
    global_step: int
    lightning_module: _Module
    sanity_checking: bool
    strategy: object


class _TrainingLoop(Protocol):
    """The attributes of Lightning's loop over the batches of an epoch that are read."""

    total_batch_idx: int
    trainer: _Trainer


class _EvaluationLoop(Protocol):
    """The attributes of Lightning's loop of a validation that are read."""

    trainer: _Trainer


def watch(planned: PlannedSteps) -> None:
    """Watches Lightning under both of its names, once it is imported, and notes the steps that it plans."""
    for package in _PACKAGES:
        when_imported(f"{package}.loops.training_epoch_loop", functools.partial(_watch_training, planned))
        when_imported(f"{package}.loops.evaluation_loop", _watch_validation)


def _watch_training(planned: PlannedSteps, module: ModuleType) -> None:
    loop = getattr(module, "_TrainingEpochLoop", None)
    original = getattr(loop, "advance", None)
    if original is None:
        return

    @functools.wraps(original)
    def advance(self: _TrainingLoop, *args: object, **kwargs: object) -> object:
        if getattr(self, "total_batch_idx", 1) <= 0:  # of all epochs
            _name_gaps(self.trainer)
            _note_planned(self.trainer, planned)
        return original(self, *args, **kwargs)

    patches.put(
        loop,
        "advance",
        advance,
        "lightning.pytorch._TrainingEpochLoop.advance: names what the settings let come, in a trial of fit",
    )


def _note_planned(trainer: _Trainer, planned: PlannedSteps) -> None:
    """Notes the planned steps. A module that calls its optimizers itself may make any number of them."""
    if trainer.lightning_module.automatic_optimization:
        planned.note(trainer.estimated_stepping_batches - trainer.global_step)


def _watch_validation(module: ModuleType) -> None:
    loop = getattr(module, "_EvaluationLoop", None)
    original = getattr(loop, "run", None)
    if original is None:
        return

    @functools.wraps(original)
    def run(self: _EvaluationLoop, *args: object, **kwargs: object) -> object:
        result = original(self, *args, **kwargs)
        # The sanity check before training has no optimizer states.
        if not self.trainer.sanity_checking and self.trainer.global_step > 0:
            close_gap(MOMENT_EVALUATION)
        return result

    patches.put(
        loop,
        "run",
        run,
        "lightning.pytorch._EvaluationLoop.run: notes that a validation has passed, in a trial of fit",
    )


def _name_gaps(trainer: _Trainer) -> None:
    if getattr(trainer, "enable_validation", False):
        name_gap(MOMENT_EVALUATION, translated("Lightning's Trainer validates (val_dataloaders)."))
    strategy = type(trainer.strategy).__name__
    gathers = any(word.replace("_", "") in strategy.lower() for word in _GATHERING)
    if gathers and getattr(trainer, "checkpoint_callbacks", None):
        name_gap(MOMENT_CHECKPOINT, translated("$0 gathers the model's shards to save them.", strategy))
