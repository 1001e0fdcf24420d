# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes Lightning's Trainer validate, save, and end after two epochs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._core.vocabulary import MOMENT_CHECKPOINT, MOMENT_END, MOMENT_EVALUATION
from memtrace._fit.moments import checkpoints
from memtrace._fit.moments.job import Job
from memtrace._fit.moments.library_methods import method_of
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

_EPOCHS = 2  # the second shows what a validation and a checkpoint between epochs left


def watch(job: Job) -> None:
    """Watches both names of Lightning, once they are imported."""
    for package in ("lightning.pytorch", "pytorch_lightning"):
        when_imported(f"{package}.loops.training_epoch_loop", lambda module: _watch_epoch(module, job))
        when_imported(f"{package}.loops.fit_loop", lambda module: _watch_fit(module, job))
        when_imported(f"{package}.loops.evaluation_loop", lambda module: _watch_evaluation(module, job))
        when_imported(f"{package}.callbacks.model_checkpoint", lambda module: _watch_checkpoint(module, job))


def _watch_epoch(module: ModuleType, job: Job) -> None:
    if check := method_of(module, "_TrainingEpochLoop._should_check_val_fx", MOMENT_EVALUATION):
        patches.put(
            check.owner,
            "_should_check_val_fx",
            _checking_if_due(check.original, job),
            "lightning.pytorch._TrainingEpochLoop._should_check_val_fx: validates early, in a trial of fit",
        )
    if advance_end := method_of(module, "_TrainingEpochLoop.on_advance_end", MOMENT_CHECKPOINT):
        patches.put(
            advance_end.owner,
            "on_advance_end",
            _saving_if_due(advance_end.original, job),
            "lightning.pytorch._TrainingEpochLoop.on_advance_end: saves early, in a trial of fit",
        )


def _checking_if_due(should_check: Callable[..., object], job: Job) -> Callable[..., object]:
    @functools.wraps(should_check)
    def check_if_due(this: Any, *args: object, **kwargs: object) -> object:
        is_due = getattr(this.trainer, "enable_validation", False) and job.is_evaluation_due()
        return is_due or should_check(this, *args, **kwargs)

    return check_if_due


def _saving_if_due(on_advance_end: Callable[..., object], job: Job) -> Callable[..., object]:
    @functools.wraps(on_advance_end)
    def save_if_due(this: Any, *args: object, **kwargs: object) -> object:
        result = on_advance_end(this, *args, **kwargs)
        if job.is_checkpoint_due():
            _save(this.trainer)
        return result

    return save_if_due


def _save(trainer: Any) -> None:
    """Saves by the first of the program's own callbacks, where its checkpoints lie."""
    for callback in getattr(trainer, "checkpoint_callbacks", [])[:1]:
        if not hasattr(callback, "_save_checkpoint"):
            return
        folder = callback.dirpath or trainer.default_root_dir
        callback._save_checkpoint(trainer, os.path.join(folder, "memtrace-whole-job.ckpt"))


def _watch_fit(module: ModuleType, job: Job) -> None:
    found = method_of(module, "_FitLoop.on_advance_end", MOMENT_END)
    if found is None:
        return
    loop, on_advance_end = found

    @functools.wraps(on_advance_end)
    def end_if_due(this: Any, *args: object, **kwargs: object) -> object:
        result = on_advance_end(this, *args, **kwargs)
        if _ended_epochs(this) >= _EPOCHS:
            this.min_epochs = this.epoch_loop.min_steps = None
            this.trainer.should_stop = True
        return result

    patches.put(
        loop,
        "on_advance_end",
        end_if_due,
        "lightning.pytorch._FitLoop.on_advance_end: ends after two epochs, in a trial of fit",
    )


def _ended_epochs(loop: Any) -> int:
    """Returns how many epochs have ended; 0 if this release does not count them."""
    progress = getattr(loop, "epoch_progress", None)
    return 0 if progress is None else int(progress.current.processed)


def _watch_evaluation(module: ModuleType, job: Job) -> None:
    found = method_of(module, "_EvaluationLoop.run", MOMENT_EVALUATION)
    if found is None:
        return
    loop, run = found

    @functools.wraps(run)
    def noted(this: Any, *args: object, **kwargs: object) -> object:
        # The check before training has no optimizer states.
        if this.trainer.sanity_checking:
            return run(this, *args, **kwargs)
        with job.rows.during(MOMENT_EVALUATION):
            return run(this, *args, **kwargs)

    patches.put(loop, "run", noted, "lightning.pytorch._EvaluationLoop.run: notes when it validates, in a trial of fit")


def _watch_checkpoint(module: ModuleType, job: Job) -> None:
    found = method_of(module, "ModelCheckpoint._save_checkpoint", MOMENT_CHECKPOINT)
    if found is None:
        return
    callback, save = found

    @functools.wraps(save)
    def noted(this: Any, trainer: object, filepath: str) -> object:
        with job.rows.during(MOMENT_CHECKPOINT):
            result = save(this, trainer, filepath)
        if not getattr(this, "save_weights_only", False):
            checkpoints.note(checkpoints.LIGHTNING, filepath)
        return result

    patches.put(
        callback,
        "_save_checkpoint",
        noted,
        "lightning.pytorch.ModelCheckpoint._save_checkpoint: notes when it saves, in a trial of fit",
    )
