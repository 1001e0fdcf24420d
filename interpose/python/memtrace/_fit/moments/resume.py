# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets a second process of the job resume from the checkpoint that the first one saved."""

from __future__ import annotations

import functools
from types import ModuleType

from memtrace._core.vocabulary import MOMENT_RESUME
from memtrace._fit.moments import checkpoints
from memtrace._fit.moments.library_methods import method_of
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

_CKPT_PATH = 5  # its place among the arguments of fit, after the trainer


def watch() -> None:
    """Watches the framework that saved the checkpoint, once it is imported."""
    kind, path = checkpoints.noted()
    if kind == checkpoints.TRANSFORMERS:
        when_imported("transformers.trainer", lambda module: _resume_trainer(module, path))
    elif kind == checkpoints.LIGHTNING:
        for package in ("lightning.pytorch", "pytorch_lightning"):
            when_imported(f"{package}.trainer.trainer", lambda module: _resume_lightning(module, path))


def _resume_trainer(module: ModuleType, path: str) -> None:
    found = method_of(module, "Trainer.train", MOMENT_RESUME)
    if found is None:
        return
    trainer, train = found

    @functools.wraps(train)
    def resumed(this: object, resume_from_checkpoint: object = None, *args: object, **kwargs: object) -> object:
        return train(this, resume_from_checkpoint or path, *args, **kwargs)

    patches.put(trainer, "train", resumed, "transformers.Trainer.train: resumes from the checkpoint of a trial of fit")


def _resume_lightning(module: ModuleType, path: str) -> None:
    found = method_of(module, "Trainer.fit", MOMENT_RESUME)
    if found is None:
        return
    trainer, fit = found

    @functools.wraps(fit)
    def resumed(this: object, *args: object, **kwargs: object) -> object:
        if len(args) < _CKPT_PATH and not kwargs.get("ckpt_path"):
            kwargs["ckpt_path"] = path
            kwargs.setdefault("weights_only", False)  # the file is the program's own
        return fit(this, *args, **kwargs)

    patches.put(trainer, "fit", resumed, "lightning.pytorch.Trainer.fit: resumes from the checkpoint of a trial of fit")
