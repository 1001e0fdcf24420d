# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The moments of a program at which a run is compared with the trial whose changes it applies.

A trial counts at each of them the places where a change has been made, and the run must have as many then.
"""

from __future__ import annotations

import atexit
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._process.identity_map import IdentityMap

if TYPE_CHECKING:
    from memtrace._process.session import Session

BACKWARD = "backward"  # before the first backward pass
STEP = "step"  # before the first step of an optimizer, or after the first step that the program states
AFTER_STEP = "after_step"  # after the first step of an optimizer, or the first one that the program states
# Before an optimizer steps for the second time, or after the second step that the program states. Whatever a loop does
# between two steps has been done by then, as zero_grad at its end.
SECOND_STEP = "second_step"
END = "end"  # of the program

_SECOND = 2


def watch(torch: ModuleType, session: Session, reached: Callable[[str], object]) -> None:
    """Calls `reached` with each of these, once, when it is reached."""
    seen: set[str] = set()
    is_compiling = torch.compiler.is_compiling

    def reach(moment: str) -> None:
        if moment not in seen and not is_compiling():
            seen.add(moment)
            reached(moment)

    if session.is_recorded:
        session.before_close.append(lambda: reach(END))
    else:
        atexit.register(reach, END)
    session.before_backward.append(lambda: reach(BACKWARD))
    session.after_step.extend((lambda _is_stated: reach(STEP), lambda _is_stated: reach(AFTER_STEP)))
    session.after_step.append(_Stated(lambda: reach(SECOND_STEP)).step_ended)
    stepping = _Stepping(lambda: reach(SECOND_STEP), is_compiling)
    optimizers = importlib.import_module("torch.optim.optimizer")  # torch.optim deletes its attribute of this name
    optimizers.register_optimizer_step_pre_hook(lambda *_arguments: reach(STEP))
    optimizers.register_optimizer_step_pre_hook(stepping.step_begins)


class _Stepping:
    """Tells when an optimizer steps for the second time: one of several may step more than once in a pass of a loop."""

    def __init__(self, is_second: Callable[[], object], is_compiling: Callable[[], bool]) -> None:
        self._is_second = is_second
        self._is_compiling = is_compiling
        self._have_stepped: IdentityMap[object, bool] = IdentityMap()

    def step_begins(self, optimizer: object, *_arguments: object) -> None:
        if self._is_compiling():
            return
        if self._have_stepped.get(optimizer):
            self._is_second()
        self._have_stepped.set(optimizer, True)


class _Stated:
    """Tells when the program has stated its second step."""

    def __init__(self, is_second: Callable[[], object]) -> None:
        self._is_second = is_second
        self._steps = 0

    def step_ended(self, is_stated: bool) -> None:
        self._steps += is_stated
        if self._steps == _SECOND:
            self._is_second()
