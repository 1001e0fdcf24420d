# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""States with how many steps a program means to end, as the Trainer of transformers or of Lightning says."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import FIT_PLANNED_STEPS
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._process.session import Session

if TYPE_CHECKING:
    from transformers import TrainerState


class PlannedSteps:
    """States the number when a Trainer begins."""

    def __init__(self, session: Session, steps: Callable[[], int]) -> None:
        """`steps` returns the number of steps that the process has made."""
        self._session = session
        self._steps = steps
        when_imported("transformers.trainer_callback", self._watch_transformers)

    def note(self, further: float) -> None:
        """States that so many steps are to come; not, if there is no such number."""
        if math.isfinite(further) and further > 0:
            self._session.core.annotate(FIT_PLANNED_STEPS, str(self._steps() + int(further)))

    def _watch_transformers(self, module: ModuleType) -> None:
        handler = getattr(module, "CallbackHandler", None)
        original = getattr(handler, "on_train_begin", None)
        if handler is None or original is None:
            return

        @functools.wraps(original)
        def on_train_begin(
            callbacks: object, args: object, state: TrainerState, *others: object, **named: object
        ) -> object:
            self.note(state.max_steps - state.global_step)
            return original(callbacks, args, state, *others, **named)

        patches.put(
            handler,
            "on_train_begin",
            on_train_begin,
            "transformers.CallbackHandler.on_train_begin: notes the planned steps, in a trial of fit",
        )
