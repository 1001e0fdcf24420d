# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Experts whose sizes follow from a router's choice: an even choice is assumed, the worst one is made or named a gap.

The choice is assumed by the policy of host values (docs/design/host_values.md). Where each expert computes all that it
gets at once, as with grouped products, no size follows from it, and nothing is said.
"""

import os

from memtrace._core.vocabulary import MOMENT_ROUTING
from memtrace._fit import gaps
from memtrace._fit.moments.epoch import Uses
from memtrace._fit.moments.job import Job
from memtrace._fit.moments.rows import Row
from memtrace._process.session import Session
from memtrace._text.messages import translated


def watch(session: Session) -> None:
    """Names the gap of uneven routing at the end of each step and of the program."""
    session.after_step.append(lambda is_stated: _name_gap(session))
    session.before_close.append(lambda: _name_gap(session))


def _name_gap(session: Session) -> None:
    line = session.host_values.line_of_choice()
    if line and not gaps.is_named_or_closed(MOMENT_ROUTING):
        gaps.name_gap(
            MOMENT_ROUTING,
            translated("Sizes at $0 follow from a router's choice of experts, which was assumed to be even.", line),
            _why_not(),
        )


def _why_not() -> str:
    if os.environ.get("MEMTRACE_FIT_MOMENTS") == "job":
        return translated(
            "The worst choice is made in an optimizer's second step, or before a second call of the model that is as "
            "large. The program came to neither."
        )
    return translated("With --whole-job it also runs a step of the worst choice: all tokens to the same experts.")


class Routing:
    """Makes the second step of the shortened job the one of the worst choice, if sizes follow from it.

    By then states of the optimizer exist. It is a step more than the job has otherwise, with the largest batch, too.
    Thread rule: the program's first thread.
    """

    def __init__(self, job: Job, uses: Uses) -> None:
        """Waits for the end of the first step."""
        self._job = job
        self._uses = uses
        self._row: Row | None = None
        job.session.after_step.append(self._step_ended)

    def _step_ended(self, is_stated: bool) -> None:
        if self._row is not None:
            self._end()
        elif self._job.steps == 1 and self._job.session.host_values.line_of_choice():
            self._begin()

    def _begin(self) -> None:
        self._row = self._job.rows.begin(MOMENT_ROUTING)
        if self._row is not None:
            self._job.is_extra_step = True
            self._uses.begin_extra_step()
            self._job.session.host_values.set_uneven(True)

    def _end(self) -> None:
        self._job.session.host_values.set_uneven(False)
        self._job.rows.finish(self._row)
        self._row = None
        self._uses.end_extra_step()
