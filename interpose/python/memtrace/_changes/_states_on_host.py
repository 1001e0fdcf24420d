# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the states of optimizers in pinned memory of the host between steps."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from memtrace._changes._change import Change
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

# Bytes. Smaller states stay: a step's number, a table of a quantized optimizer.
_LEAST_BYTES = 1 << 16


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies from the next step of any optimizer on; between steps its `state` holds tensors of the host.

    Each optimizer with such states is a place.
    """
    states = _States(torch, session, change)
    optimizers = importlib.import_module("torch.optim.optimizer")
    optimizers.register_optimizer_step_pre_hook(states.before_step)
    handle = optimizers.register_optimizer_step_post_hook(states.after_step)
    # The states are away before the step counts as ended.
    optimizers._global_optimizer_post_hooks.move_to_end(handle.id, last=False)


class _State(NamedTuple):
    parameter: Tensor
    of: dict[str, Any]  # the dict that holds it
    name: str
    value: Tensor

    @property
    def key(self) -> tuple[int, str]:
        return id(self.parameter), self.name


class _States:
    """Moves states with all their values. The copies in the host are made once and written after each step."""

    def __init__(self, torch: ModuleType, session: Session, change: Change) -> None:
        self._torch = torch
        self._session = session
        self._change = change
        self._copies: IdentityMap[Optimizer, dict[tuple[int, str], Tensor]] = IdentityMap()

    def before_step(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        """Brings back those that were put away; others, such as loaded ones, are where the program put them."""
        copies = self._copies.get(optimizer)
        if not copies:
            return
        for state in self._of(optimizer):
            away = copies.get(state.key)
            if away is not None and away is state.value:
                state.of[state.name] = away.to(state.parameter.device, non_blocking=True)
        self._session.labels.optimizer_states(optimizer, again=True)

    def after_step(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        """Puts all large ones away, and waits until the host has them, because the program may read them now."""
        away = [state for state in self._of(optimizer) if self._can_go(state)]
        if not away or self._torch.cuda.is_current_stream_capturing():
            return
        copies = self._copies.get(optimizer)
        if copies is None:
            copies = {}
            self._copies.set(optimizer, copies)
            self._change.found_and_made(type(optimizer).__name__)
        if self._change.only_looks:
            return
        for state in away:
            self._put_away(state, copies)
        for card in {state.value.device for state in away}:
            self._torch.cuda.current_stream(card).synchronize()

    def _of(self, optimizer: Optimizer) -> Iterator[_State]:
        for parameter, of in optimizer.state.items():
            for name, value in list(of.items()) if isinstance(of, dict) else ():
                if type(value) is self._torch.Tensor:
                    yield _State(parameter, of, name, value)

    def _can_go(self, state: _State) -> bool:
        value = state.value
        is_plain = value.is_cuda and value.layout is self._torch.strided and not hasattr(value, "is_paged")
        return is_plain and value.device == state.parameter.device and value.nbytes >= _LEAST_BYTES

    def _put_away(self, state: _State, copies: dict[tuple[int, str], Tensor]) -> None:
        copy = copies.get(state.key)
        if copy is None or copy.shape != state.value.shape or copy.dtype != state.value.dtype:
            copy = self._torch.empty_like(state.value, device="cpu", pin_memory=True)
            copies[state.key] = copy
        copy.copy_(state.value, non_blocking=True)
        state.of[state.name] = copy
