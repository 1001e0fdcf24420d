# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The estimated time of a step, counted by `interpose/torch/step_time` from the operators of the program."""

from memtrace._process.session import Session


class StepTime:
    """Times of the last whole step. Counts nothing without a simulated card or with host values off."""

    def __init__(self, session: Session) -> None:
        """Counts from now on."""
        self._shim = session.host_values.shim
        self._is_on = session.host_values.on and self._shim.memtrace_step_time_start() == 0
        if self._is_on:
            self._shim.memtrace_step_time_set_phase(session.phase)
            session.at_phase.append(self._shim.memtrace_step_time_set_phase)

    def step_ended(self) -> None:
        """Assigns later operators to the next step."""
        if self._is_on:
            self._shim.memtrace_step_time_end_step()

    def annotate(self) -> None:
        """Writes the times of the last step that ended into the trace."""
        if self._is_on:
            self._shim.memtrace_step_time_annotate()
