# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names the gaps that the user's own files show: they evaluate, generate or merge in lines that were not reached."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import ParamSpec, TypeVar

from memtrace._fit.call_sites import CallSites, RunningLine, Site
from memtrace._fit.gaps import is_named_or_closed, name_gap
from memtrace._holders.user_source import tree_of, users_files
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session
from memtrace._program.users_frames import names_are_recorded, users_frames
from memtrace._text.messages import translated

P = ParamSpec("P")
R = TypeVar("R")


class UserCalls:
    """Notes the lines from which the program evaluates, generates and calls models. Any thread."""

    def __init__(self, torch: ModuleType, session: Session, steps: Callable[[], int]) -> None:
        """`steps` returns the number of steps that have ended."""
        self._steps = steps
        self._lines: set[tuple[str, int]] = set()  # reached after the first step
        self._has_resumed = False
        session.before_forward.append(self.note_lines)
        patches.put(
            torch.nn.Module,
            "eval",
            self._noting(torch.nn.Module.eval),
            "torch.nn.Module.eval: notes the line that evaluates, in a trial of fit",
        )
        when_imported("transformers.generation.utils", self._watch_generation)
        when_imported("peft.tuners.tuners_utils", self._watch_merging)

    def note_lines(self) -> None:
        """Notes the lines of the user at which this thread is. Before the first step there are no optimizer states."""
        if self._steps() == 0:
            return
        for frame in users_frames(sys._getframe(1)):
            self._lines.add((frame.f_code.co_filename, frame.f_lineno))

    def resumed(self) -> None:
        """Notes that the program has resumed from a checkpoint."""
        self._has_resumed = True

    def name_gaps(self) -> None:
        """Names the moments that can still come, if the program is stopped in this line of this thread."""
        try:
            self._name_gaps()
        except Exception as error:  # an unusual file must not interrupt the trial
            raise_if_from_outside(error)

    def _name_gaps(self) -> None:
        sites = CallSites()
        for path in users_files():
            if (tree := tree_of(path)) is not None:
                sites.read(path, tree)
        running = [
            RunningLine(os.path.abspath(frame.f_code.co_filename), frame.f_code.co_name, frame.f_lineno)
            for frame in users_frames(sys._getframe())
        ]
        lines = {(os.path.abspath(path), line) for path, line in self._lines}
        for site in sites.to_come(running):
            was_reached = any((site.path, line) in lines for line in range(site.first, site.last + 1))
            if not was_reached and not is_named_or_closed(site.moment):
                name_gap(site.moment, _unreached(site))
        for site in sites.resuming():
            if not self._has_resumed and not is_named_or_closed(site.moment):
                name_gap(site.moment, _unresumed(site))

    def _watch_generation(self, module: ModuleType) -> None:
        if hasattr(getattr(module, "GenerationMixin", None), "generate"):
            patches.put(
                module.GenerationMixin,
                "generate",
                self._noting(module.GenerationMixin.generate),
                "transformers.GenerationMixin.generate: notes the line that generates, in a trial of fit",
            )

    def _watch_merging(self, module: ModuleType) -> None:
        if hasattr(getattr(module, "BaseTuner", None), "merge_and_unload"):
            patches.put(
                module.BaseTuner,
                "merge_and_unload",
                self._noting(module.BaseTuner.merge_and_unload),
                "peft.BaseTuner.merge_and_unload: notes the line that merges, in a trial of fit",
            )

    def _noting(self, original: Callable[P, R]) -> Callable[P, R]:
        """Returns the function so that it notes the lines that call it."""

        @functools.wraps(original)
        def noted(*args: P.args, **kwargs: P.kwargs) -> R:
            self.note_lines()
            return original(*args, **kwargs)

        return noted


def _unreached(site: Site) -> str:
    if not names_are_recorded():
        return translated("The program calls $0(), but not in the steps seen.", site.name)
    return translated("$0 calls $1(), but not in the steps seen.", _place(site), site.name)


def _unresumed(site: Site) -> str:
    if not names_are_recorded():
        return translated("The program can resume ($0), and this run did not.", site.name)
    return translated("$0 can resume ($1), and this run did not.", _place(site), site.name)


def _place(site: Site) -> str:
    return f"{os.path.basename(site.path)}:{site.first}"
