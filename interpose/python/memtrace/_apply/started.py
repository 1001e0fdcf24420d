# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the changes of MEMTRACE_WITH in a process that starts (`memtrace run --with`)."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._text.messages import joined_sentences, translated
from memtrace._text.say import EXIT_USAGE, refuse, say

if TYPE_CHECKING:
    from memtrace._apply.gate import Gate
    from memtrace._apply.plans import Plan
    from memtrace._process.session import Session


def is_wanted() -> bool:
    """True if this process is to run with changes."""
    return bool(os.environ.get("MEMTRACE_WITH"))


def check_or_exit() -> None:
    """Ends the process before the program uses torch if the changes of MEMTRACE_WITH were not made for it."""
    from memtrace._apply import plans

    try:
        plan = plans.read(os.environ["MEMTRACE_WITH"])
    except ValueError as error:
        refuse(f"--with: {error}", EXIT_USAGE)
    for wrong in wrong_in(plan):
        _say_or_refuse(wrong)


def start(torch: ModuleType, session: Session) -> None:
    """Makes the changes of MEMTRACE_WITH from now on; stops the program before its first step if one is not made."""
    from memtrace import _changes
    from memtrace._apply import moments, plans
    from memtrace._apply.gate import Gate

    plan = plans.read(os.environ["MEMTRACE_WITH"])
    gate = Gate(plan, _changes.start(torch, session, plan.words), goes_on=_goes_on())
    torch.cuda._lazy_call(lambda: _refuse_other_script(plan, gate))  # a launcher does not use CUDA
    moments.watch(torch, session, gate.reached)


def _refuse_other_script(plan: Plan, gate: Gate) -> None:
    from memtrace._apply import plans

    if wrong := plans.other_script(plan):
        if not _goes_on():
            gate.dismiss()  # what a program that was stopped did not change says nothing
        _say_or_refuse(wrong)


def _say_or_refuse(wrong: str) -> None:
    if _goes_on():
        say(wrong)
    else:
        also = translated("--with-what-can-be applies the changes all the same.")
        refuse(joined_sentences([wrong, also]), EXIT_USAGE)


def _goes_on() -> bool:
    return os.environ.get("MEMTRACE_WITH_WHAT_CAN_BE") == "1"


def wrong_in(plan: Plan) -> list[str]:
    """Returns a sentence for each thing that the plan was made for and that is not so here."""
    from memtrace._apply import plans

    return [*plans.differences(plan), *plans.missing_packages(plan)]
