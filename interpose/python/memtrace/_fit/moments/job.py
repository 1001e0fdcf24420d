# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the moments in the shortened job: two steps, an evaluation, a step, another evaluation, a checkpoint."""

import sys
from collections.abc import Callable

from memtrace._core.vocabulary import (
    MOMENT_CHECKPOINT,
    MOMENT_END,
    MOMENT_EVALUATION,
    PHASE_BACKWARD,
    PHASE_FORWARD,
    PHASE_OPTIMIZER,
    PHASE_RECOMPUTE,
)
from memtrace._fit.moments.rows import Rows
from memtrace._process.session import Session

# The second step is the first in which optimizer states and activations live together.
_FIRST_EVALUATION = 2
_SECOND_EVALUATION = 3  # it shows what the first one left
_CHECKPOINT = 3
_TRAINING = (PHASE_FORWARD, PHASE_BACKWARD, PHASE_RECOMPUTE, PHASE_OPTIMIZER)


class Job:
    """Says which moment is due. Frameworks' modules ask at the end of each step and make it happen.

    Thread rule: the program's first thread.
    """

    def __init__(self, session: Session, rows: Rows, look_ahead: Callable[[], object]) -> None:
        """Counts the steps from now on. `look_ahead` names the gaps of moments that can still come."""
        self.session = session
        self.rows = rows
        self._look_ahead = look_ahead
        self.steps = 0  # that an optimizer ended, but for extra ones
        self.is_extra_step = False  # the step is a moment of its own
        self.last_step = 0  # of the trace: the step in which the latest optimizer step was made
        self._failed = (0, session.phase)  # step of the trace and phase of the latest request that failed
        session.after_step.append(self._step_ended)
        session.at_failure.append(self._note_failure)
        session.before_close.append(self._note_end)

    def is_evaluation_due(self, is_epochs_end: bool = False) -> bool:
        """True if the program shall evaluate now. At an epoch's end it is due if there was none."""
        had = self.rows.count(MOMENT_EVALUATION)
        is_time = (self.steps >= _FIRST_EVALUATION and had == 0) or (self.steps >= _SECOND_EVALUATION and had == 1)
        return is_time or (is_epochs_end and had == 0)

    def is_checkpoint_due(self, is_epochs_end: bool = False) -> bool:
        """True if the program shall save now."""
        return not self.rows.has(MOMENT_CHECKPOINT) and (self.steps >= _CHECKPOINT or is_epochs_end)

    def _step_ended(self, is_stated: bool) -> None:
        self.last_step = self.session.step_number
        if self.is_extra_step:
            self.is_extra_step = False
            return
        self.steps += 1
        if self.steps == _FIRST_EVALUATION:
            self._look_ahead()

    def _note_failure(self) -> None:
        self._failed = (self.session.step_number, self.session.phase)

    def _note_end(self) -> None:
        """Notes that what came after the last step of an optimizer is the job's end.

        An exception in a forward or backward pass ended a training step instead. A backward is over by now, whatever
        ended it.
        """
        error = getattr(sys, "last_value", None)
        ended_by = "" if error is None else type(error).__name__
        self.rows.finish_all(ended_by)
        is_after_steps = 0 < self.last_step < self.session.step_number
        failed_in, phase = self._failed
        is_training = self.session.phase in _TRAINING or (failed_in == self.session.step_number and phase in _TRAINING)
        if is_after_steps and not (ended_by and is_training):
            self.rows.since_step(MOMENT_END, self.last_step + 1, ended_by)
