# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes transformers' Trainer, and those of TRL, evaluate, save, and end after two epochs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._core.vocabulary import MOMENT_BEST_MODEL, MOMENT_CHECKPOINT, MOMENT_END, MOMENT_EVALUATION
from memtrace._fit.moments import checkpoints
from memtrace._fit.moments.failures import failed_by_itself, failure_text
from memtrace._fit.moments.job import Job
from memtrace._fit.moments.library_methods import method_of
from memtrace._fit.trainer_gaps import eval_strategy_of
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

_TRIAL = 1  # its place among the arguments of _save_checkpoint, after the trainer
_EPOCHS = 2  # the second shows what an evaluation and a checkpoint between epochs left


def watch(torch: ModuleType, job: Job) -> None:
    """Watches transformers, once it is imported."""
    when_imported("transformers.trainer_callback", _Control(job).watch)
    when_imported("transformers.trainer", lambda module: _watch_trainer(module, torch, job))


class _Control:
    """Sets what the Trainer reads at the end of each step and each epoch."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._epochs = 0

    def watch(self, module: ModuleType) -> None:
        if step_end := method_of(module, "CallbackHandler.on_step_end", MOMENT_EVALUATION):
            patches.put(
                step_end.owner,
                "on_step_end",
                self._at_step_end(step_end.original),
                "transformers.CallbackHandler.on_step_end: evaluates and saves early, in a trial of fit",
            )
        if epoch_end := method_of(module, "CallbackHandler.on_epoch_end", MOMENT_END):
            patches.put(
                epoch_end.owner,
                "on_epoch_end",
                self._at_epoch_end(epoch_end.original),
                "transformers.CallbackHandler.on_epoch_end: ends after two epochs, in a trial of fit",
            )

    def _at_step_end(self, on_step_end: Callable[..., Any]) -> Callable[..., object]:
        @functools.wraps(on_step_end)
        def step_end(this: object, args: Any, state: object, control: Any, **kwargs: object) -> object:
            control = on_step_end(this, args, state, control, **kwargs)
            return self._set_due(args, control)

        return step_end

    def _at_epoch_end(self, on_epoch_end: Callable[..., Any]) -> Callable[..., object]:
        @functools.wraps(on_epoch_end)
        def epoch_end(this: object, args: Any, state: object, control: Any, **kwargs: object) -> object:
            control = on_epoch_end(this, args, state, control, **kwargs)
            self._epochs += 1
            control.should_training_stop |= self._epochs >= _EPOCHS
            return self._set_due(args, control, is_epochs_end=True)

        return epoch_end

    def _set_due(self, args: Any, control: Any, is_epochs_end: bool = False) -> object:
        if eval_strategy_of(args) != "no" and self._job.is_evaluation_due(is_epochs_end):
            control.should_evaluate = True
        if args.save_strategy != "no" and self._job.is_checkpoint_due(is_epochs_end):
            control.should_save = True
        return control


def _watch_trainer(module: ModuleType, torch: ModuleType, job: Job) -> None:
    for name, moment in (
        ("evaluate", MOMENT_EVALUATION),
        ("predict", MOMENT_EVALUATION),
        ("_load_best_model", MOMENT_BEST_MODEL),
    ):
        if found := method_of(module, f"Trainer.{name}", moment):
            patches.put(
                found.owner,
                name,
                _in_moment(found.original, moment, job),
                "transformers.Trainer: notes the moments of the job, in a trial of fit",
            )
    if save := method_of(module, "Trainer._save_checkpoint", MOMENT_CHECKPOINT):
        patches.put(
            save.owner,
            "_save_checkpoint",
            _saved(save.original, job),
            "transformers.Trainer._save_checkpoint: notes the checkpoint, in a trial of fit",
        )
    if evaluate := method_of(module, "Trainer._evaluate", MOMENT_EVALUATION):
        patches.put(
            evaluate.owner,
            "_evaluate",
            _without_failures(evaluate.original, torch, job),
            "transformers.Trainer._evaluate: continues if metrics fail by themselves, in a trial of fit",
        )
    if determine := method_of(module, "Trainer._determine_best_metric", MOMENT_BEST_MODEL):
        patches.put(
            determine.owner,
            "_determine_best_metric",
            _always_best(determine.original),
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
    if (
        row is not None
        and getattr(trainer.args, "eval_do_concat_batches", True)
        and not trainer.args.prediction_loss_only
    ):
        row.known["joined"] = 2


def _saved(save: Callable[..., object], job: Job) -> Callable[..., object]:
    @functools.wraps(save)
    def noted(trainer: Any, *args: Any, **kwargs: Any) -> object:
        with job.rows.during(MOMENT_CHECKPOINT):
            result = save(trainer, *args, **kwargs)
        trial = args[_TRIAL] if len(args) > _TRIAL else kwargs.get("trial")
        folder = trainer._get_output_dir(trial) if hasattr(trainer, "_get_output_dir") else trainer.args.output_dir
        folder = os.path.join(folder, f"checkpoint-{trainer.state.global_step}")
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
