# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The worst choice of a router in a program that only serves: a call of the model once more, with uneven routing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import MOMENT_GENERATION, MOMENT_ROUTING
from memtrace._fit.moments.job import Job
from memtrace._patching import patches
from memtrace._process.labels import tensors_in

if TYPE_CHECKING:
    from torch.nn import Module

_DEPTH = 3  # levels of containers among a call's arguments
_CONTINUED = ("past_key_values", "streamer")  # with these, a call changes what it is given


class ServedRouting:
    """Makes a call twice if sizes follow from a router's choice: first with the worst choice, then as the program does.

    That is the first call after the one that showed it, and the first that is as large as those before. Its first
    result is dropped before the second begins, so nothing of it counts later. As soon as an optimizer has ended a step,
    Routing does this for the training. Thread rule: the program's first thread.
    """

    def __init__(self, torch: ModuleType, job: Job) -> None:
        """Watches calls of models without gradients. Calls of `generate` come by `before`."""
        self._job = job
        self._largest = 0  # elements of a call's tensors
        self._is_over = False
        self._watch_calls(torch)

    def _watch_calls(self, torch: ModuleType) -> None:
        original = torch.nn.Module.__call__
        depth = self._job.session.core.module_depth
        with_gradients, is_compiling = torch.is_grad_enabled, torch.compiler.is_dynamo_compiling

        @functools.wraps(original)
        def call(module: Module, *args: object, **kwargs: object) -> object:
            is_seen = not (self._is_over or is_compiling() or with_gradients() or depth() > 0)
            if is_seen and not self._job.rows.is_in(MOMENT_GENERATION):
                self.before(lambda: original(module, *args, **kwargs), args, kwargs)
            return original(module, *args, **kwargs)

        patches.put(
            torch.nn.Module,
            "__call__",
            call,
            "torch.nn.Module.__call__: makes a served model's call with the worst choice, in a trial of fit",
        )

    def before(self, call: Callable[[], object], args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        """Makes the call with the worst choice, if this is the one. `args` and `kwargs` are its arguments."""
        if self._is_over or self._job.steps > 0:
            return
        if any(kwargs.get(name) is not None for name in _CONTINUED):
            return
        elements = sum(tensor.numel() for tensor in tensors_in((args, kwargs), _DEPTH))
        is_largest = elements >= self._largest
        self._largest = max(self._largest, elements)
        if is_largest and self._job.session.host_values.line_of_choice():
            self._make(call)

    def _make(self, call: Callable[[], object]) -> None:
        values = self._job.session.host_values
        self._is_over = True
        values.set_uneven(True)
        try:
            with self._job.rows.during(MOMENT_ROUTING):
                call()
        finally:
            values.set_uneven(False)
