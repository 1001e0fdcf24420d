# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the calls of `--also` once, in the user's own script, after its second step."""

from __future__ import annotations

import builtins
import dis
import functools
import json
import os
import sys
from types import CodeType, FrameType, ModuleType
from typing import NoReturn

from memtrace._changes._living_modules import modules
from memtrace._core.vocabulary import MOMENT_EVALUATION
from memtrace._fit.end import end_without_handlers
from memtrace._fit.gaps import name_lasting_gap
from memtrace._fit.moments.failures import failed_by_itself, failure_text
from memtrace._fit.moments.job import Job
from memtrace._fit.moments.rows import Row
from memtrace._patching import patches
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session
from memtrace._program.users_frames import users_frames
from memtrace._text.messages import translated
from memtrace._text.say import say

_AFTER_STEP = 2
_EXIT_USAGE = 2


class AlsoCalled:
    """Calls that are evaluated where the loop asks for its next batch, when its step is over as its author wrote it.

    A program that asks no DataLoader has them at the end of the optimizer's next step. Thread rule: the program's
    first thread.
    """

    def __init__(self, torch: ModuleType, job: Job, calls: list[str]) -> None:
        """`calls` are expressions of Python. Ends the process if one is none."""
        self._torch = torch
        self._job = job
        self._calls = [(text, _compiled(job.session, text)) for text in calls]
        job.session.after_step.append(self._step_ended)
        self._watch_loaders(torch)

    def _watch_loaders(self, torch: ModuleType) -> None:
        iterator = torch.utils.data.dataloader._BaseDataLoaderIter
        original = iterator.__next__

        @functools.wraps(original)
        def next_batch(this: object) -> object:
            if self._calls and self._job.steps >= _AFTER_STEP:
                self._evaluate()
            return original(this)

        patches.put(
            iterator,
            "__next__",
            next_batch,
            "torch.utils.data.dataloader._BaseDataLoaderIter.__next__: makes the calls of --also, in a trial of fit",
        )

    def _step_ended(self, is_stated: bool) -> None:
        if self._calls and self._job.steps > _AFTER_STEP:
            self._evaluate()

    def _evaluate(self) -> None:
        frames = users_frames(sys._getframe())
        calls, self._calls = self._calls, []
        for text, code in calls:
            names = self._names_for(text, code, frames)
            with self._job.rows.during(MOMENT_EVALUATION) as row:
                if row is not None:
                    row.known["also"] = text
                self._call(text, code, names, row)

    def _call(self, text: str, code: CodeType, names: dict[str, object], row: Row | None) -> None:
        """Makes a call. The job goes on after an exception that has nothing to do with memory: that is a gap."""
        modes = [(module, module.training) for module in modules(self._torch)]
        try:
            eval(code, names)
        except Exception as error:
            raise_if_from_outside(error)
            if not failed_by_itself(self._torch, error):
                raise
            failure = failure_text(error)
            name_lasting_gap(MOMENT_EVALUATION, translated("--also '$0' failed by itself ($1).", text, failure))
            if row is not None:
                row.known["failed_by_itself"] = failure
            for module, is_training in modes:  # the call may not have come to its train()
                module.training = is_training

    def _names_for(self, text: str, code: CodeType, frames: list[FrameType]) -> dict[str, object]:
        """Returns the variables at the innermost line of the user's from which all names of the call are known.

        Those of the calling functions are known as well, because a loop's function rarely has the loader of the
        evaluation.
        """
        unknown = ""
        for number, frame in enumerate(frames):
            names = dict(frame.f_globals)
            for outer in reversed(frames[number:]):
                names.update(outer.f_locals)
            missing = [name for name in _names_in(code) if name not in names and not hasattr(builtins, name)]
            if not missing:
                return names
            unknown = unknown or missing[0]
        place = f"{os.path.basename(frames[0].f_code.co_filename)}:{frames[0].f_lineno}" if frames else ""
        _end(self._job.session, translated("--also '$0': there is no '$1' at $2.", text, unknown, place))


def watch(torch: ModuleType, job: Job) -> None:
    """Reads the calls from MEMTRACE_FIT_ALSO, a JSON array."""
    if calls := json.loads(os.environ.get("MEMTRACE_FIT_ALSO") or "[]"):
        AlsoCalled(torch, job, calls)


def _compiled(session: Session, text: str) -> CodeType:
    try:
        return compile(text.strip(), "<--also>", "eval")
    except SyntaxError as error:
        _end(session, translated("--also '$0' is no call of Python ($1).", text, error.msg))


def _names_in(code: CodeType) -> list[str]:
    """Returns the names that the expression itself reads, without those of attributes."""
    return [str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")]


def _end(session: Session, sentence: str) -> NoReturn:
    """Ends the process as for a wrong option, with the sentence on its last line."""
    session.close()
    say(sentence)
    end_without_handlers(_EXIT_USAGE)
