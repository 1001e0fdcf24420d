# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The moments of a program at which a run is compared with the trial whose changes it applies.

A trial counts at each of them the places where a change has been made, and the run must have as many then.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtrace._process.session import Session

BACKWARD = "backward"  # before the first backward pass
STEP = "step"  # before the first step of an optimizer, or after the first step that the program states
AFTER_STEP = "after_step"  # after the first step of an optimizer, or the first one that the program states
END = "end"  # of the program


def watch(torch: ModuleType, session: Session, reached: Callable[[str], object]) -> None:
    """Calls `reached` with each of these, once, when it is reached."""
    seen: set[str] = set()
    is_compiling = torch.compiler.is_compiling

    def reach(moment: str) -> None:
        if moment not in seen and not is_compiling():
            seen.add(moment)
            reached(moment)

    session.before_close.append(lambda: reach(END))
    session.before_backward.append(lambda: reach(BACKWARD))
    session.after_step.extend((lambda _is_stated: reach(STEP), lambda _is_stated: reach(AFTER_STEP)))
    optimizers = importlib.import_module("torch.optim.optimizer")  # torch.optim deletes its attribute of this name
    optimizers.register_optimizer_step_pre_hook(lambda *_arguments: reach(STEP))
