# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The callback for transformers' Trainer. `memtrace.callbacks` imports it on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformers import TrainerCallback

from memtrace._estimate import experiment
from memtrace._estimate.answer import Estimate
from memtrace._estimate.api import inputs_of_call
from memtrace._estimate.description import Job
from memtrace._estimate.example_batch import example_batch
from memtrace._estimate.warning import warn_unless_fits

if TYPE_CHECKING:
    from torch.nn import Module
    from torch.optim import Optimizer
    from torch.utils.data import DataLoader
    from transformers import TrainerControl, TrainerState, TrainingArguments

_STEPS = 2
# More passes before a step need no more memory than two.
_PASSES = 2


class FitCallback(TrainerCallback):  # type: ignore[misc]  # transformers has no complete types
    """Warns before the first step of transformers' Trainer if the training will run out of memory.

    The step is tried as `memtrace.estimate` does, with the trainer's model, optimizer, accumulation and precision, on a
    batch of its data. It is transformers' own step: your own `compute_loss` is not called. Does nothing with
    `MEMTRACE=0` and in a run of `memtrace fit`.

    Thread rule: any thread. The trainer calls it on the thread that trains.

    Args:
        card: The cards, as for `memtrace.estimate`; by default those of this process.
        stop: True if `memtrace.DoesNotFit` is to be raised instead of the warning.

    Raises:
        ImportError: If transformers is not installed, when the class is first named.

    Example:
        >>> from memtrace.callbacks import FitCallback
        >>> callbacks = [FitCallback(card="24GiB", stop=True)]  # for Trainer(..., callbacks=callbacks)
    """

    def __init__(self, card: str | None = None, *, stop: bool = False) -> None:
        self._card = card
        self._stop = stop

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        """Tries the step. The trainer calls it; only the first process of a job does anything.

        If the training does not fit, or if that is not known, warns with a RuntimeWarning that says why.

        Args:
            args: The trainer's settings.
            state: The trainer's state.
            control: Not used.
            kwargs: What the trainer also gives, with the model, the optimizer and the data loader.

        Raises:
            DoesNotFit: If the training does not fit and `stop` is true.
        """
        if state.is_world_process_zero:
            warn_unless_fits(lambda: self._find(args, **kwargs), self._stop)

    def _find(
        self,
        args: TrainingArguments,
        model: Module,
        optimizer: Optimizer,
        train_dataloader: DataLoader[object],
        **_others: object,
    ) -> Estimate:
        positional, named = inputs_of_call(example_batch(train_dataloader))
        passes = min(_PASSES, args.gradient_accumulation_steps)
        inner = getattr(optimizer, "optimizer", optimizer)  # accelerate's wrapper has this attribute
        return experiment.run(Job(model, inner, positional, named, passes=passes), self._card, _STEPS)
