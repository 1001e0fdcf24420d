# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes transformers' Trainer, and those of TRL, evaluate, save, and end after two epochs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._core.vocabulary import MOMENT_BEST_MODEL, MOMENT_CHECKPOINT, MOMENT_EVALUATION
from memtrace._fit.moments import checkpoints
from memtrace._fit.moments.failures import failed_by_itself, failure_text
from memtrace._fit.moments.job import Job
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

_EPOCHS = 2  # the second shows what an evaluation and a checkpoint between epochs left


def watch(torch: ModuleType, job: Job) -> None:
    """Watches transformers, once it is imported."""
    when_imported("transformers.trainer_callback", lambda module: _Control(job).watch(module.CallbackHandler))
    when_imported("transformers.trainer", lambda module: _watch_trainer(module.Trainer, torch, job))


class _Control:
    """Sets what the Trainer reads at the end of each step and each epoch."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._epochs = 0

    def watch(self, handler: type[Any]) -> None:
        on_step_end, on_epoch_end = handler.on_step_end, handler.on_epoch_end

        @functools.wraps(on_step_end)
        def step_end(this: object, args: Any, state: object, control: Any, **kwargs: object) -> object:
            control = on_step_end(this, args, state, control, **kwargs)
            return self._set_due(args, control)

        @functools.wraps(on_epoch_end)
        def epoch_end(this: object, args: Any, state: object, control: Any, **kwargs: object) -> object:
            control = on_epoch_end(this, args, state, control, **kwargs)
            self._epochs += 1
            control.should_training_stop |= self._epochs >= _EPOCHS
            return self._set_due(args, control, is_epochs_end=True)

        patches.put(
            handler,
            "on_step_end",
            step_end,
            "transformers.CallbackHandler.on_step_end: evaluates and saves early, in a trial of fit",
        )
        patches.put(
            handler,
            "on_epoch_end",
            epoch_end,
            "transformers.CallbackHandler.on_epoch_end: ends after two epochs, in a trial of fit",
        )

    def _set_due(self, args: Any, control: Any, is_epochs_end: bool = False) -> object:
        if args.eval_strategy != "no" and self._job.is_evaluation_due(is_epochs_end):
            control.should_evaluate = True
        if args.save_strategy != "no" and self._job.is_checkpoint_due(is_epochs_end):
            control.should_save = True
        return control


def _watch_trainer(trainer: type[Any], torch: ModuleType, job: Job) -> None:
    for name, moment in (
        ("evaluate", MOMENT_EVALUATION),
        ("predict", MOMENT_EVALUATION),
        ("_load_best_model", MOMENT_BEST_MODEL),
    ):
        noted = _in_moment(getattr(trainer, name), moment, job)
        patches.put(trainer, name, noted, "transformers.Trainer: notes the moments of the job, in a trial of fit")
    patches.put(
        trainer,
        "_save_checkpoint",
        _saved(trainer._save_checkpoint, job),
        "transformers.Trainer._save_checkpoint: notes the checkpoint, in a trial of fit",
    )
    patches.put(
        trainer,
        "_evaluate",
        _without_failures(trainer._evaluate, torch, job),
        "transformers.Trainer._evaluate: continues if metrics fail by themselves, in a trial of fit",
    )
    patches.put(
        trainer,
        "_determine_best_metric",
        _always_best(trainer._determine_best_metric),
        "transformers.Trainer._determine_best_metric: takes each checkpoint for the best, in a trial of fit",
    )


def _in_moment(method: Callable[..., object], moment: str, job: Job) -> Callable[..., object]:
    @functools.wraps(method)
    def noted(*args: object, **kwargs: object) -> object:
        with job.rows.during(moment):
            if moment == MOMENT_EVALUATION:
                _note_joining(args[0], job)
            return method(*args, **kwargs)

    return noted


def _note_joining(trainer: Any, job: Job) -> None:
    """Notes that predictions so far are joined with each batch's, which takes them twice for a moment."""
    row = job.rows.open_row(MOMENT_EVALUATION)
    if row is not None and trainer.args.eval_do_concat_batches and not trainer.args.prediction_loss_only:
        row.known["joined"] = 2


def _saved(save: Callable[..., object], job: Job) -> Callable[..., object]:
    @functools.wraps(save)
    def noted(trainer: Any, model: object, trial: object, *args: object, **kwargs: object) -> object:
        with job.rows.during(MOMENT_CHECKPOINT):
            result = save(trainer, model, trial, *args, **kwargs)
        folder = os.path.join(trainer._get_output_dir(trial), f"checkpoint-{trainer.state.global_step}")
        checkpoints.note(checkpoints.TRANSFORMERS, folder)
        return result

    return noted


def _without_failures(evaluate: Callable[..., object], torch: ModuleType, job: Job) -> Callable[..., object]:
    """Continues after an exception of the metrics, which get values that were not computed. Its memory is counted."""

    @functools.wraps(evaluate)
    def continued(*args: object, **kwargs: object) -> object:
        with job.rows.during(MOMENT_EVALUATION) as row:
            _note_joining(args[0], job)
            try:
                return evaluate(*args, **kwargs)
            except Exception as error:
                if not failed_by_itself(torch, error):
                    raise
                if row is not None:
                    row.known["failed_by_itself"] = failure_text(error)
                return {}

    return continued


def _always_best(determine: Callable[..., object]) -> Callable[..., object]:
    """Makes each checkpoint the best, because metrics have no true values here and one must be loaded at the end."""

    @functools.wraps(determine)
    def best(trainer: Any, *args: object, **kwargs: object) -> object:
        if trainer.args.metric_for_best_model is None:
            return determine(trainer, *args, **kwargs)
        trainer.state.best_metric = 0.0
        trainer.state.best_global_step = trainer.state.global_step
        return True

    return best
