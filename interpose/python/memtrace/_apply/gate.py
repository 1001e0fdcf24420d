# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Says what was changed in a program, or stops it in its first steps if that is not what the trial changed."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtrace._apply.moments import AFTER_STEP, BACKWARD, END, SECOND_STEP, STEP
from memtrace._text.messages import counted, joined_sentences, translated
from memtrace._text.say import EXIT_ENVIRONMENT, refuse, say

if TYPE_CHECKING:
    from memtrace._apply.plans import Plan
    from memtrace._changes._change import Change


class Gate:
    """Compares each change with the plan at the moment that the plan names."""

    def __init__(self, plan: Plan, changes: list[Change], *, goes_on: bool) -> None:
        """With `goes_on` it stops nothing."""
        self._plan = plan
        self._waiting = list(changes)
        self._goes_on = goes_on

    def dismiss(self) -> None:
        """Compares nothing any more."""
        self._waiting.clear()

    def reached(self, moment: str) -> None:
        """Says what was changed by that moment. Ends the program if a change was not made as in the trial."""
        for change in list(self._waiting):
            by = self._plan.expected_of(change.name).by
            # A change that the trial had made by the first step may need its backward pass.
            if moment in (by, END) or (moment == STEP and by == BACKWARD):
                self._waiting.remove(change)
                self._judge(change, moment)

    def _judge(self, change: Change, moment: str) -> None:
        wrong = self._difference(change)
        if not wrong:
            _say_once(_made(change))
        elif moment == END:
            say(wrong)
        elif self._goes_on:
            say(joined_sentences([wrong, translated("The program goes on.")]))
        else:
            _stop(joined_sentences([wrong, _stopped(moment)]))

    def _difference(self, change: Change) -> str:
        """Returns "" if the change was made as in the trial, or somewhere if there was no trial."""
        expected = self._plan.expected_of(change.name)
        found = _Found.of_change(change)
        if expected.places is None:
            return "" if found.places else translated("The change '$0' found nothing to change.", change.name)
        if found.target == expected.target and _are_as_many(found.places, expected.places, expected.by):
            return ""
        names = self._plan.name, change.name, _Found(expected.places or 0, expected.of, expected.target).text()
        if found.places == 0:
            return translated("$0 applies '$1' to $2, but the program has none.", *names)
        return translated("$0 applies '$1' to $2, but the program has $3.", *names, found.text())


def _are_as_many(places: int, expected: int, by: str) -> bool:
    """True if the change was made at so many places. A trial ends early, and its program may find more."""
    return places >= expected if by == END else places == expected


@dataclass(frozen=True)
class _Found:
    places: int
    of: int
    target: str
    first: str = ""

    @classmethod
    def of_change(cls, change: Change) -> _Found:
        return cls(**json.loads(change.facts()))

    def text(self) -> str:
        """Returns "9 of 32 MistralDecoderLayer"; a change of one call is "AdamW"."""
        if self.target and self.places == self.of == 1:
            return self.target
        if not self.target:
            return counted(self.places, "1 place", "$0 places", self.places)
        return translated("$0 of $1 $2", self.places, max(self.of, self.places), self.target)


def _made(change: Change) -> str:
    found = _Found.of_change(change)
    name = f"{change.name}={change.value}" if change.value else change.name
    if not found.first:
        return translated("'$0' is applied to $1.", name, found.text())
    # A line of the program is shown without its folder.
    first = os.path.basename(found.first) if ":" in found.first else found.first
    return translated("'$0' is applied to $1, first at $2.", name, found.text(), first)


def _stopped(moment: str) -> str:
    if moment == AFTER_STEP:
        return translated("The program was stopped after its first step. --with-what-can-be goes on all the same.")
    if moment == SECOND_STEP:
        return translated("The program was stopped before its second step. --with-what-can-be goes on all the same.")
    return translated("The program was stopped before its first step. --with-what-can-be goes on all the same.")


def _say_once(sentence: str) -> None:
    """Says it in the first rank of a job only, because the others change the same."""
    if os.environ.get("RANK", "0") == "0":
        say(sentence)


def _stop(sentence: str) -> None:
    if threading.current_thread() is threading.main_thread():
        refuse(sentence)
    say(sentence)
    os._exit(EXIT_ENVIRONMENT)  # an exception would only end this thread
