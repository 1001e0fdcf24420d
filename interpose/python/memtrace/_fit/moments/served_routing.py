# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The worst choice of a router in a program that only serves: a call of the model once more, with uneven routing."""

from __future__ import annotations

import functools
import weakref
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

    That is a later call of the model whose call showed the choice, the first one that is as large. The result with the
    worst choice is dropped before the program's own call begins, so nothing of it counts later. As soon as an optimizer
    has ended a step, Routing does this for the training. Thread rule: the program's first thread.
    """

    def __init__(self, torch: ModuleType, job: Job) -> None:
        """Watches calls of models without gradients. Calls of `generate` come by `around`."""
        self._job = job
        self._model: weakref.ref[object] | None = None  # whose call showed the choice
        self._elements = 0  # of the tensors that were given to it
        self._is_over = False
        self._watch_calls(torch)

    def _watch_calls(self, torch: ModuleType) -> None:
        original = torch.nn.Module.__call__
        depth = self._job.session.core.module_depth
        with_gradients, is_compiling = torch.is_grad_enabled, torch.compiler.is_dynamo_compiling

        @functools.wraps(original)
        def call(module: Module, *args: object, **kwargs: object) -> object:
            def run() -> object:
                return original(module, *args, **kwargs)

            is_seen = not (self._is_over or is_compiling() or with_gradients() or depth() > 0)
            if is_seen and not self._job.rows.is_in(MOMENT_GENERATION):
                return self.around(run, run, (module, *args), kwargs)
            return run()

        patches.put(
            torch.nn.Module,
            "__call__",
            call,
            "torch.nn.Module.__call__: makes a served model's call with the worst choice, in a trial of fit",
        )

    def around(
        self,
        once_more: Callable[[], object],
        run: Callable[[], object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        """Returns `run()`. Calls `once_more` with the worst choice before it, if this is the call for that.

        `args`, which begin with the model, and `kwargs` are the arguments of both.
        """
        if self._is_over or self._job.steps > 0:
            return run()
        if self._model is None:
            return self._look(run, args, kwargs)
        is_as_large = self._model() is args[0] and _elements(args, kwargs) >= self._elements
        if is_as_large and all(kwargs.get(name) is None for name in _CONTINUED):
            self._make(once_more)
        return run()

    def _look(self, run: Callable[[], object], args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Calls it, and keeps in mind the model if its call was the first that showed a choice."""
        values = self._job.session.host_values
        is_known = bool(values.line_of_choice())
        elements = _elements(args, kwargs)
        result = run()
        if not is_known and values.line_of_choice():
            self._model, self._elements = weakref.ref(args[0]), elements
        return result

    def _make(self, call: Callable[[], object]) -> None:
        values = self._job.session.host_values
        self._is_over = True
        values.set_uneven(True)
        try:
            with self._job.rows.during(MOMENT_ROUTING):
                call()
        finally:
            values.set_uneven(False)


def _elements(args: tuple[object, ...], kwargs: dict[str, object]) -> int:
    return sum(tensor.numel() for tensor in tensors_in((args, kwargs), _DEPTH))
