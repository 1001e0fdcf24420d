# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The process of a trial of `memtrace fit` (docs/design/fit.md). Does nothing unless the trial's variables are set."""

import faulthandler
import json
import os
import time
from collections.abc import Callable
from types import ModuleType

from memtrace import _changes, _scratch
from memtrace._core.vocabulary import FIT_ENDED, FIT_FLOORS, FIT_RISES, FIT_STEP, FIT_STEPS, FIT_WENT_ON
from memtrace._fit import gaps, lightning_gaps, made, moments, trainer_gaps
from memtrace._fit.caught import CaughtErrors
from memtrace._fit.costs import Costs, page_locked_bytes
from memtrace._fit.end import end_process
from memtrace._fit.floors import Floors
from memtrace._fit.moments import loaders
from memtrace._fit.moments.rows import Rows
from memtrace._fit.peaks import Peaks
from memtrace._fit.planned_steps import PlannedSteps
from memtrace._fit.ranks import all_ranks_settled
from memtrace._fit.step_time import StepTime
from memtrace._fit.user_calls import UserCalls
from memtrace._forks import noted_imports
from memtrace._process.session import Session

_PLACE_BEFORE_END = 2  # seconds
_STDERR = 2  # the program may have closed the object


def start(torch: ModuleType, session: Session) -> None:
    """Watches steps as MEMTRACE_FIT_STEPS and _WATCH say, applies _CHANGES, and protects the user's files.

    Raises ValueError if MEMTRACE_FIT_STEPS is not MIN:MAX.
    """
    noted_imports.torch_imported(torch)
    if changes := os.environ.get("MEMTRACE_FIT_CHANGES"):
        made.watch(torch, session, _changes.start(torch, session, changes))
    if _scratch.start_from_environment():  # `memtrace run` has already started it with the interpreter
        session.before_close.append(lambda: _scratch.annotate(session.core.annotate))
    if (end := os.environ.get("MEMTRACE_FIT_ENDS", "")).isdecimal():
        _print_place_before(int(end))
    if steps := os.environ.get("MEMTRACE_FIT_STEPS"):
        least, most = _bounds(steps)
        watch = os.environ.get("MEMTRACE_FIT_WATCH", "")
        batches = loaders.watch(torch, session)
        trial = Trial(torch, session, least, most, int(watch) if watch.isdecimal() else 0)
        trial.is_pending = batches.is_pending
        session.after_step.append(trial.step_ended)
        rows = Rows(session)
        moments.start(torch, session, rows, batches, trial.look_ahead)
        session.before_close.append(trial.annotate)


def _print_place_before(end: int) -> None:
    """Prints the program's place a moment before the trial is ended at `end` (seconds of time.monotonic()).

    The log might hold nothing otherwise.
    """
    left = end - _PLACE_BEFORE_END - time.monotonic()
    faulthandler.dump_traceback_later(max(left, 1), exit=False, file=_STDERR)


def _bounds(steps: str) -> tuple[int, int]:
    least, colon, most = steps.partition(":")
    if not (colon and least.isdecimal() and most.isdecimal() and 1 <= int(least) <= int(most)):
        raise ValueError(f"MEMTRACE_FIT_STEPS must be MIN:MAX, two numbers of steps, not {steps!r}.")
    return int(least), int(most)


class Trial:
    """Counts the steps of one process and ends it when its peaks have settled."""

    def __init__(self, torch: ModuleType, session: Session, least: int, most: int, watch: int) -> None:
        """Ends nothing before `least` steps or `watch` seconds after the first; ends the process after `most`."""
        self._torch = torch
        self._session = session
        self._least = least
        self._most = most
        self._watch = watch
        self.is_pending: Callable[[], bool] = lambda: False  # true if larger batches are about to come
        self._watched_since = 0.0  # the end of the first step
        self._microseconds = 0  # the mean of the steps after it
        self._steps = 0
        self._are_stated = False
        self._peaks = Peaks(torch)
        self._floors = Floors(torch)
        self._costs = Costs()
        self._time = StepTime(session)
        self._caught = CaughtErrors(torch, lambda: self._steps)
        self._user_calls = UserCalls(torch, session, lambda: self._steps)
        trainer_gaps.watch(self._user_calls.resumed)
        lightning_gaps.watch(PlannedSteps(session, lambda: self._steps))

    def step_ended(self, is_stated: bool) -> None:
        """Counts a step that the optimizer or the program ended. Ends the process if the trial is over."""
        if is_stated and not self._are_stated:
            # Steps counted by optimizers so far belong to the first step that the program states.
            self._are_stated, self._steps = True, 0
            self._peaks.rises.clear()
            self._floors.highs.clear()
        self._steps += 1
        self._costs.step_ended()
        self._note_time()
        self._time.step_ended()
        stays_more = self._floors.rose_since_last_call(self._steps)
        has_settled = not self._peaks.rose_since_last_call(self._steps) and not stays_more
        has_seen = self._steps >= self._most or (has_settled and self._steps >= self._least and not self.is_pending())
        if all_ranks_settled(self._torch, self._steps, has_seen and self._is_watched()):
            self._session.core.annotate(FIT_ENDED, "settled" if has_settled else "steps")
            self._user_calls.name_gaps()
            end_process(self._session)

    def look_ahead(self) -> None:
        """Names the moments that can still come after this line."""
        self._user_calls.name_gaps()

    def _note_time(self) -> None:
        now = time.monotonic()
        self._watched_since = self._watched_since or now
        self._microseconds = round((now - self._watched_since) / max(self._steps - 1, 1) * 1e6)

    def _is_watched(self) -> bool:
        """True if the time for watching later steps, with other data, is over."""
        return time.monotonic() - self._watched_since >= self._watch

    def annotate(self) -> None:
        """Writes into the trace how far the process came and how much memory it needed."""
        annotate = self._session.core.annotate
        _changes.annotate_missing(annotate)
        annotate(FIT_STEPS, str(self._steps))
        annotate(FIT_WENT_ON, str(int(self._caught.has_continued())))
        annotate(FIT_RISES, json.dumps(list(self._peaks.rises), separators=(",", ":")))
        annotate(FIT_FLOORS, json.dumps(list(self._floors.highs), separators=(",", ":")))
        gaps.annotate(annotate)
        for key, number in self._peaks.by_key().items():
            annotate(key, str(number))
        for key, number in self._costs.of_last_step().items():
            annotate(f"{FIT_STEP}.{key}", str(number))
        annotate(f"{FIT_STEP}.host_memory_bytes", str(page_locked_bytes(self._torch)))
        annotate(f"{FIT_STEP}.microseconds", str(self._microseconds))
        self._time.annotate()
