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
    """Warns before the first step if the training will run out of memory: `Trainer(..., callbacks=[FitCallback()])`.

    The step is tried with the trainer's model, optimizer, accumulation and precision on a batch of its data. It is
    transformers' own step: your own `compute_loss` is not called.
    """

    def __init__(self, card: str | None = None, *, stop: bool = False) -> None:
        """Takes the card to test, by default the process's; with `stop`, raises memtrace.DoesNotFit, no warning."""
        self._card = card
        self._stop = stop

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        """Tries the step, in the first process of the job."""
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
