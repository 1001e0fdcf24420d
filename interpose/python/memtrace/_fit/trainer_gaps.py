# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names the gaps that the arguments of transformers' Trainer show, and closes them when the moments have passed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import MOMENT_BEST_MODEL, MOMENT_CHECKPOINT, MOMENT_EVALUATION, MOMENT_RESUME
from memtrace._fit.gaps import close_gap, name_gap
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._program.user_modules import is_library
from memtrace._text.messages import translated

if TYPE_CHECKING:
    from transformers import Trainer, TrainingArguments

# Methods at whose end a moment has passed, if a step was made before: there are no optimizer states until then.
_PASSED = {
    "evaluate": MOMENT_EVALUATION,
    "_save_checkpoint": MOMENT_CHECKPOINT,
    "_load_best_model": MOMENT_BEST_MODEL,
}


def watch(resumed: Callable[[], object]) -> None:
    """Watches the Trainer, once it is imported. `resumed` is called if it resumes from a checkpoint."""
    when_imported("transformers.trainer", lambda module: _watch(module, resumed))


def _watch(module: ModuleType, resumed: Callable[[], object]) -> None:
    trainer = getattr(module, "Trainer", None)
    if trainer is None:
        return
    if hasattr(trainer, "train"):
        _watch_train(trainer, resumed)
    for name, moment in _PASSED.items():
        if hasattr(trainer, name):
            _watch_end(trainer, name, moment)


def _watch_train(trainer: type[Trainer], resumed: Callable[[], object]) -> None:
    original = trainer.train

    @functools.wraps(original)
    def train(self: Trainer, resume_from_checkpoint: object = None, *args: object, **kwargs: object) -> object:
        _name_gaps(self)
        if resume_from_checkpoint:
            close_gap(MOMENT_RESUME)
            resumed()
        return original(self, resume_from_checkpoint, *args, **kwargs)

    patches.put(
        trainer,
        "train",
        train,
        "transformers.Trainer.train: names what its arguments let come, in a trial of fit",
    )


def _watch_end(trainer: type, name: str, moment: str) -> None:
    original = getattr(trainer, name)

    @functools.wraps(original)
    def passed(self: Trainer, *args: object, **kwargs: object) -> object:
        result = original(self, *args, **kwargs)
        if self.state.global_step > 0:
            close_gap(moment)
        return result

    patches.put(
        trainer,
        name,
        passed,
        "transformers.Trainer.*: notes the moments that have passed, in a trial of fit",
    )


def _name_gaps(trainer: Trainer) -> None:
    """Names the moments that are to come, from the arguments and callbacks."""
    arguments = trainer.args
    strategy = eval_strategy_of(arguments)
    if strategy != "no":
        name_gap(MOMENT_EVALUATION, translated("The Trainer evaluates (eval_strategy is $0).", strategy))
    elif trainer.eval_dataset is not None:
        name_gap(MOMENT_EVALUATION, translated("The Trainer has an eval_dataset that was not used."))
    elif writer := _callback_with_own(trainer, "on_evaluate"):
        name_gap(MOMENT_EVALUATION, translated("The Trainer has a callback $0.on_evaluate.", writer))
    if evidence := _saves_on_card(trainer):
        name_gap(MOMENT_CHECKPOINT, evidence)
    if arguments.load_best_model_at_end:
        name_gap(MOMENT_BEST_MODEL, translated("The Trainer loads the best model at its end (load_best_model_at_end)."))


def _saves_on_card(trainer: Trainer) -> str:
    """Says how it is known that saving takes memory of the card; "" if it only copies to the host."""
    strategy = _word(trainer.args.save_strategy)
    if strategy == "no":
        return ""
    if getattr(trainer, "is_deepspeed_enabled", False) or getattr(trainer, "is_fsdp_enabled", False):
        return translated("The Trainer gathers the model's shards to save them (save_strategy is $0).", strategy)
    writer = _callback_with_own(trainer, "on_save") or _own_saving(type(trainer))
    return translated("The Trainer saves with code of the script ($0).", writer) if writer else ""


def _own_saving(trainer: type) -> str:
    """Returns the name of the user's method by which a class of the user saves."""
    for name in ("_save_checkpoint", "save_model", "_save"):
        if _is_users(getattr(trainer, name, None)):
            return f"{trainer.__name__}.{name}"
    return ""


def _callback_with_own(trainer: Trainer, name: str) -> str:
    """Returns the class of a callback that has such a method in the user's files."""
    for callback in trainer.callback_handler.callbacks:
        if _is_users(getattr(type(callback), name, None)):
            return f"{type(callback).__name__}"
    return ""


def _is_users(method: object) -> bool:
    code = getattr(method, "__code__", None)
    return code is not None and not is_library(code.co_filename)


def eval_strategy_of(arguments: TrainingArguments) -> str:
    """Returns "no", "steps" or "epoch"; before transformers 4.41 the argument had another name."""
    return _word(getattr(arguments, "eval_strategy", getattr(arguments, "evaluation_strategy", "no")))


def _word(strategy: object) -> str:
    return str(getattr(strategy, "value", strategy))
