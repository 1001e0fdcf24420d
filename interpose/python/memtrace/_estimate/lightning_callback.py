# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The callback for Lightning. `memtrace.callbacks` imports it on demand."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Protocol

from memtrace._estimate import experiment
from memtrace._estimate.answer import Estimate
from memtrace._estimate.description import Job
from memtrace._estimate.example_batch import example_batch
from memtrace._estimate.warning import warn_unless_fits

if TYPE_CHECKING:
    from torch.nn import Module
    from torch.optim import Optimizer
    from torch.utils.data import DataLoader

_STEPS = 2
# More passes before a step need no more memory than two.
_PASSES = 2
_MIXED = {"bf16-mixed": "bfloat16", "16-mixed": "float16"}


def _callback_class() -> type:
    """Returns Lightning's class from the package that the program uses."""
    names = ["lightning.pytorch", "pytorch_lightning"]
    name = next((name for name in names if name in sys.modules), None)
    found: type = importlib.import_module(name or names[0]).Callback
    return found


class _Trainer(Protocol):
    """The attributes of Lightning's trainer that are read."""

    accumulate_grad_batches: int
    is_global_zero: bool
    optimizers: list[Optimizer]
    precision: object
    train_dataloader: DataLoader[object]


class LightningFitCallback(_callback_class()):  # type: ignore[misc]  # chosen at run time
    """Warns before the first step of Lightning's Trainer if the training will run out of memory.

    The step is tried as `memtrace.estimate` does, with the module's `training_step`, its optimizer, accumulation and
    precision, on a batch of its data. Modules with several optimizers or manual optimization are not tried; a warning
    says so. Does nothing with `MEMTRACE=0` and in a run of `memtrace fit`.

    The class derives from the Callback of the package that the program has imported, `lightning.pytorch` or
    `pytorch_lightning`; of the first if neither is.

    Thread rule: any thread. The trainer calls it on the thread that trains.

    Args:
        card: The cards, as for `memtrace.estimate`; by default those of this process.
        stop: True if `memtrace.DoesNotFit` is to be raised instead of the warning.

    Raises:
        ImportError: If Lightning is not installed, when the class is first named.

    Example:
        >>> from memtrace.callbacks import LightningFitCallback
        >>> callbacks = [LightningFitCallback(card="24GiB", stop=True)]  # for Trainer(callbacks=callbacks)
    """

    def __init__(self, card: str | None = None, *, stop: bool = False) -> None:
        super().__init__()
        self._card = card
        self._stop = stop

    def on_train_start(self, trainer: _Trainer, pl_module: Module) -> None:
        """Tries the step. The trainer calls it; only the first process of a job does anything.

        If the training does not fit, or if that is not known, warns with a RuntimeWarning that says why.

        Args:
            trainer: Lightning's trainer.
            pl_module: The module that it trains.

        Raises:
            DoesNotFit: If the training does not fit and `stop` is true.
        """
        if trainer.is_global_zero:
            warn_unless_fits(lambda: self._find(trainer, pl_module), self._stop)

    def _find(self, trainer: _Trainer, module: Module) -> Estimate:
        import torch

        if len(trainer.optimizers) != 1 or not module.automatic_optimization:
            raise RuntimeError("the module must have exactly one optimizer, which Lightning steps")
        mixed = _MIXED.get(str(trainer.precision))
        job = Job(
            module,
            trainer.optimizers[0],
            (example_batch(trainer.train_dataloader), 0),
            method="training_step",
            passes=min(_PASSES, trainer.accumulate_grad_batches),
            autocast=getattr(torch, mixed) if mixed else None,
            keeps_gradients=True,
        )
        return experiment.run(job, self._card, _STEPS)
