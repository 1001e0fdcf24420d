# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Notes the evaluations of loops that the user wrote: from a trained model's `eval()` to its `train()`."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import MOMENT_CHECKPOINT, MOMENT_EVALUATION
from memtrace._fit.moments import checkpoints
from memtrace._fit.moments.job import Job
from memtrace._patching import patches

if TYPE_CHECKING:
    from torch.nn import Module

    from memtrace._fit.moments.rows import Row


def watch(torch: ModuleType, job: Job) -> None:
    """Watches the modes of modules, and torch.save."""
    _Modes(job).watch(torch)
    save = torch.save

    @functools.wraps(save)
    def noted(obj: object, f: object, *args: object, **kwargs: object) -> object:
        if job.steps == 0:
            return save(obj, f, *args, **kwargs)
        is_frameworks = job.rows.is_in(MOMENT_CHECKPOINT)
        with job.rows.during(MOMENT_CHECKPOINT):
            result = save(obj, f, *args, **kwargs)
        if not is_frameworks:
            checkpoints.note_saved(obj, f)
        return result

    patches.put(torch, "save", noted, "torch.save: notes when the program saves, in a trial of fit")


class _Modes:
    """Knows if a trained model is in the eval mode that the program set. Thread rule: the program's first thread."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._depth = 0  # a module sets the modes of its parts by the same method
        self._row: Row | None = None
        job.session.before_backward.append(self._finish)

    def watch(self, torch: ModuleType) -> None:
        train = torch.nn.Module.train

        @functools.wraps(train)
        def mode_set(module: Module, mode: bool = True) -> object:
            self._depth += 1
            try:
                if self._depth == 1:
                    self._set(module, mode)
                return train(module, mode)
            finally:
                self._depth -= 1

        patches.put(
            torch.nn.Module,
            "train",
            mode_set,
            "torch.nn.Module.train: notes when a model is evaluated, in a trial of fit",
        )

    def _set(self, module: Module, mode: bool) -> None:
        if mode:
            self._finish()
        elif self._job.steps > 0 and self._row is None and self._is_trained(module):
            self._row = self._job.rows.begin(MOMENT_EVALUATION)

    def _finish(self) -> None:
        row, self._row = self._row, None
        self._job.rows.finish(row)

    def _is_trained(self, module: Module) -> bool:
        stepped = {
            id(parameter)
            for optimizer, _ in self._job.session.optimizers.items()
            for group in optimizer.param_groups
            for parameter in group["params"]
        }
        return any(id(parameter) in stepped for parameter in module.parameters())
