# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Applies changes that `memtrace fit` found to a program, on a real or a simulated card: `memtrace.apply`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from memtrace._start.off import is_off
from memtrace._text.messages import joined_sentences, translated
from memtrace._text.say import say

if TYPE_CHECKING:
    from memtrace._apply.plans import Plan


def apply(changes: str, *, what_can_be: bool = False) -> None:
    """Runs the rest of this program with changes that `memtrace fit` found.

    It does what `memtrace run --with` does, and switches memtrace on as `enable` does. Call it before CUDA is used, and
    before models and optimizers are made; torch may be imported already or not. What was changed is printed, a line for
    each change. If a change is not made as in the run of `fit`, one sentence says so and the program ends with exit
    code 5 before its first optimizer step, or before its second for what loops do after a step (`zero_grad`). With
    `MEMTRACE=0`, nothing is changed.

    Thread rule: any thread, but not two at the same time.

    Args:
        changes: The file that `memtrace fit --save-plan` wrote, or names of changes, such as "checkpointing=9,fused"
            for the first 9 layers and a fused optimizer. The settings of torch's allocator in the file are used unless
            the environment has others.
        what_can_be: Go on if a change is not made as in the run of `fit`, or if the file was made for another script or
            other versions of torch and of the libraries.

    Raises:
        ValueError: If there is no such file or change, or the file was made for something else.
        RuntimeError: If CUDA is in use already.

    Example:
        >>> import memtrace, torch
        >>> memtrace.apply("fused")
        >>> weight = torch.nn.Parameter(torch.zeros(16, device="cuda"))
        >>> torch.optim.AdamW([weight]).defaults["fused"]
        True
        >>> memtrace.apply("quick")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: memtrace.apply: there is no change 'quick'; the changes are ...
    """
    from memtrace._apply import plans, started
    from memtrace._process.session import current_session
    from memtrace._public.api import enable

    if is_off():
        return
    try:
        plan = plans.read(changes)
    except ValueError as error:
        raise ValueError(f"memtrace.apply: {error}") from None
    for wrong in (*started.wrong_in(plan), plans.other_script(plan)):
        if wrong and not what_can_be:
            hint = [translated("what_can_be=True applies the changes all the same.")] if plan.script_version else []
            raise ValueError(f"memtrace.apply: {joined_sentences([wrong, *hint])}")
        if wrong:
            say(wrong)
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        raise RuntimeError("memtrace.apply: CUDA is in use already. Call it before the first model is made.")
    _set_environment(changes, plan, what_can_be=what_can_be)
    session = current_session()
    if session is None:
        enable()
    elif torch is not None:
        started.start(torch, session)


def _set_environment(changes: str, plan: Plan, *, what_can_be: bool) -> None:
    from memtrace._apply import plans

    os.environ["MEMTRACE_WITH"] = os.path.abspath(changes) if os.path.exists(changes) else plan.words
    os.environ["MEMTRACE_WITH_WHAT_CAN_BE"] = "1" if what_can_be else "0"
    if plan.allocator:
        os.environ.setdefault("MEMTRACE_ALLOCATOR", plan.allocator)
    if not plans.are_settings_set():
        os.environ.update(plan.settings)
