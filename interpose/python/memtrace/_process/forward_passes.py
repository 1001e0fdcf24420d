# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Counts calls of outermost modules with gradients on, whose activations autograd keeps for a backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtrace._core.vocabulary import FORWARD_BEFORE_BACKWARD, FORWARD_EVAL_SINCE_BACKWARD, FORWARD_SINCE_BACKWARD
from memtrace._process.identity_map import IdentityMap

if TYPE_CHECKING:
    from torch.nn import Module


class _Calls:
    """Calls of one module since the latest backward, and how it was called before."""

    def __init__(self) -> None:
        self.backwards = 0  # backward passes that had begun before
        self.all = 0
        self.most = 0  # that a backward followed
        self.in_eval = 0
        self.is_latest_in_eval = False
        self.trains = False  # a backward came after a call in training mode
        self.trains_in_eval = False  # ... in eval mode


class ForwardPasses:
    """Counts calls since the latest backward, of the module that was called most."""

    def __init__(self) -> None:
        """Starts without calls."""
        self._backwards = 0
        self._of_modules: IdentityMap[Module, _Calls] = IdentityMap()

    def began(self, module: Module) -> None:
        """Counts a call of an outermost module with gradients on."""
        calls = self._of_modules.get(module)
        if calls is None:
            calls = _Calls()
            self._of_modules.set(module, calls)
        if calls.backwards != self._backwards:
            calls.trains_in_eval |= calls.is_latest_in_eval
            calls.trains |= calls.all > 0 and not calls.is_latest_in_eval
            calls.most = max(calls.most, calls.all)
            calls.backwards, calls.all, calls.in_eval = self._backwards, 0, 0
        is_eval = module.training is False
        calls.all += 1
        calls.in_eval += is_eval
        calls.is_latest_in_eval = is_eval

    def backward_began(self) -> None:
        """Forgets the calls so far, whose activations no later backward needs."""
        self._backwards += 1

    def facts(self) -> dict[str, str]:
        """Returns `forward.since_backward`, `forward.before_backward` and `forward.eval_since_backward`.

        Calls in eval mode count only for a module that is trained in training mode. For others, such as a frozen part
        of a trained model, the backward may still come.
        """
        latest = [calls for _, calls in self._of_modules.items() if calls.backwards == self._backwards]
        toggled = (calls.in_eval for calls in latest if calls.trains and not calls.trains_in_eval)
        most = max(latest, key=lambda calls: calls.all, default=_Calls())
        return {
            FORWARD_SINCE_BACKWARD: str(most.all),
            FORWARD_BEFORE_BACKWARD: str(most.most),
            FORWARD_EVAL_SINCE_BACKWARD: str(max(toggled, default=0)),
        }
