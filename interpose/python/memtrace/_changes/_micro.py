# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Splits each batch into M micro-batches, whose gradients add up: `micro[=M]`, 2 without a number.

The number of examples in an optimizer step stays the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace._changes._change import Change
from memtrace._changes._program_line import program_line
from memtrace._patching import patches, training_arguments
from memtrace._patching.import_watch import when_imported
from memtrace._patching.library_parts import part_of
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from transformers import TrainingArguments


def watch(_torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies to transformers' TrainingArguments and to Lightning's Trainer that are made from now on."""
    micro = _Micro(change)
    training_arguments.watch(before=micro.split_arguments)
    for package in ("lightning.pytorch", "pytorch_lightning"):
        when_imported(f"{package}.loops.fit_loop", micro.watch_lightning)


class _Micro:
    def __init__(self, change: Change) -> None:
        self._change = change
        self._parts = change.degree(2) or 0
        self._is_found = False
        self._made: set[tuple[int, int]] = set()  # batches and accumulation steps that it has set
        self._split: IdentityMap[Any, bool] = IdentityMap()  # samplers of loaders that may be in several fits

    def _can_split(self, batch: int, target: str) -> bool:
        """Notes a batch of the program; the largest degree is its number of examples. True if it is to be split."""
        if batch > 1 and not self._is_found:
            self._is_found = True
            self._change.found(batch, target, program_line())
        return self._parts > 1 and batch % self._parts == 0

    def _note(self) -> None:
        self._change.made(self._parts - self._change.places)

    def split_arguments(self, arguments: TrainingArguments) -> None:
        """Changes the arguments of a program. Arguments that are made of changed ones stay."""
        batch, steps = arguments.per_device_train_batch_size, int(arguments.gradient_accumulation_steps)
        is_new = (batch, steps) not in self._made
        if is_new and self._can_split(batch, type(arguments).__name__):
            arguments.per_device_train_batch_size = batch // self._parts
            arguments.gradient_accumulation_steps = steps * self._parts
            self._made.add((batch // self._parts, steps * self._parts))
            self._note()

    def watch_lightning(self, fit_loop: ModuleType) -> None:
        """Changes the loaders for training as Lightning prepares them; manual optimization is left alone."""
        found = part_of(fit_loop, "_process_dataloader")
        if found is None:
            return
        original: Callable[..., Any] = found.original

        @functools.wraps(original)
        def process(trainer: Any, *args: object) -> object:
            loader = original(trainer, *args)
            sampler = getattr(loader, "batch_sampler", None)
            batch = getattr(sampler, "batch_size", None)
            if not isinstance(batch, int) or not trainer.lightning_module.automatic_optimization:
                return loader
            if self._split.get(sampler):
                self._accumulate(trainer)
            elif self._can_split(batch, type(loader).__name__):
                self._split.set(sampler, True)
                sampler.batch_size = batch // self._parts  # type: ignore[union-attr]  # it has the attribute
                self._accumulate(trainer)
                # A sampler of the program's own has the number; the loader it was given to has none then.
                is_loaders = getattr(args[-1], "batch_size", None) == batch
                self._change.is_argument(args[-1] if is_loaders else sampler, "batch_size", batch // self._parts)
                self._note()
            return loader

        patches.put(
            fit_loop,
            "_process_dataloader",
            process,
            "lightning.pytorch.loops.fit_loop._process_dataloader: splits the batch, for the change micro",
        )

    def _accumulate(self, trainer: Any) -> None:
        """Does so once for each trainer, which may have several loaders and makes them anew in each fit."""
        before = trainer.accumulate_grad_batches
        if getattr(trainer, "_memtrace_accumulates", None) == before:
            return
        trainer.accumulate_grad_batches = trainer._memtrace_accumulates = before * self._parts
        self._change.is_argument(trainer, "accumulate_grad_batches", trainer.accumulate_grad_batches)
        if isinstance(trainer.limit_train_batches, int):
            trainer.limit_train_batches *= self._parts
            self._change.is_argument(trainer, "limit_train_batches", trainer.limit_train_batches)
