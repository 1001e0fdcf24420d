# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Backward passes and optimizer steps: their phases, and the gradients and states that they leave behind."""

from __future__ import annotations

import functools
import importlib
import sys
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

from memtrace._core.vocabulary import (
    BACKWARD_CREATES_GRAPH,
    BACKWARD_PLACE,
    BACKWARD_RETURNS_GRADIENTS,
    PHASE_BACKWARD,
    PHASE_OPTIMIZER,
    PHASE_OTHER,
    PHASE_RECOMPUTE,
)
from memtrace._hooks.optimizer_facts import optimizer_facts
from memtrace._hooks.recomputation import place_of_call
from memtrace._patching import patches
from memtrace._patching.quiet import quieter
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session
from memtrace._program.users_frames import innermost_users_frame, place_of
from memtrace._text.say import say

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    # The first arguments of torch.autograd._engine_run_backward; the fourth is create_graph.
    _EngineArguments = tuple[tuple[Tensor, ...], tuple[Tensor | None, ...], bool, bool, tuple[Tensor, ...]]


class _EngineOptions(TypedDict, total=False):
    """The named arguments of torch.autograd._engine_run_backward that are read."""

    accumulate_grad: bool
    inputs: tuple[Tensor, ...]


def watch_backward(torch: ModuleType, session: Session) -> None:
    """Watches the engine call in torch.autograd's functions; the functions stay the same for scripts and pickles."""
    original = getattr(torch.autograd, "_engine_run_backward", None)
    if original is None:
        say(f"torch {torch.__version__} runs backward in an unknown way, so the trace shows no backward phase.")
        return
    quiet = quieter(torch)
    begin = quiet(session.backward_begins)
    label = quiet(session.labels.gradients)

    def finish() -> None:
        session.set_phase(PHASE_OTHER)
        session.backward_ended()

    end = quiet(finish)
    kinds = quiet(_KindsOfGradients(session).see)
    place = quiet(_PlaceOfBackward(session).see)

    @functools.wraps(original)
    def run_backward(*args: object, **kwargs: object) -> object:
        before = session.phase
        try:
            begin()
            kinds(args, kwargs)
            place()
            return original(*args, **kwargs)
        finally:
            if before not in (PHASE_BACKWARD, PHASE_RECOMPUTE):  # not the inner one of a reentrant checkpoint
                if kwargs.get("accumulate_grad"):
                    label()
                end()

    patches.put(
        torch.autograd,
        "_engine_run_backward",
        run_backward,
        "torch.autograd._engine_run_backward: notes when a backward pass begins and ends",
    )
    _watch_first_gradients(torch, session)


class _PlaceOfBackward:
    """States the program's line that calls a backward pass, because requests of autograd's threads have no line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stated = ""

    def see(self) -> None:
        frame = innermost_users_frame(sys._getframe().f_back)
        place = place_of(frame) if frame is not None else ""
        if place and place != self._stated:
            self._stated = place
            self._session.core.annotate(BACKWARD_PLACE, place)


class _KindsOfGradients:
    """States, once each, results of backward passes other than gradients for an optimizer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stated: set[str] = set()

    def see(self, args: _EngineArguments, kwargs: _EngineOptions) -> None:
        """Reads the arguments of a backward pass: the fourth is create_graph, the fifth the requested inputs."""
        if kwargs.get("accumulate_grad"):
            if len(args) > 3 and args[3] is True:
                self._state(BACKWARD_CREATES_GRAPH, place_of_call)
            return
        inputs = args[4] if len(args) > 4 else kwargs.get("inputs", ())
        if any(getattr(tensor, "is_leaf", False) for tensor in inputs):
            self._state(BACKWARD_RETURNS_GRADIENTS, lambda: "1")

    def _state(self, key: str, value: Callable[[], str]) -> None:
        if key not in self._stated:
            self._stated.add(key)
            self._session.core.annotate(key, value())


def _watch_first_gradients(torch: ModuleType, session: Session) -> None:
    """Assigns the gradients that a backward begins with to its phase, and to the owner of the loss."""
    original = getattr(torch.autograd, "_make_grads", None)
    if original is None:
        return
    is_compiling = torch.compiler.is_compiling

    @functools.wraps(original)
    def make_gradients(outputs: Sequence[Tensor], *args: object, **kwargs: object) -> object:
        node: object = None if is_compiling() or not outputs else getattr(outputs[0], "grad_fn", None)
        scope = session.core.scope_of_forward(node._sequence_nr()) if hasattr(node, "_sequence_nr") else 0
        if not scope:
            return original(outputs, *args, **kwargs)
        with session.in_scope(scope):
            return original(outputs, *args, **kwargs)

    patches.put(
        torch.autograd,
        "_make_grads",
        make_gradients,
        "torch.autograd._make_grads: labels the first gradients with the owner of the loss",
    )


def watch_optimizers(torch: ModuleType, session: Session) -> None:
    """Watches the step of every optimizer: its phase, its states, and the memory that its update needs for a moment.

    An optimizer that steps within a backward (in a hook of each gradient) may free gradients before that ends, so these
    are labelled first.
    """
    facts_known: IdentityMap[Optimizer, int] = IdentityMap()
    counted: list[weakref.ref[Optimizer]] = []  # the optimizer whose steps count as the training's
    phases: IdentityMap[Optimizer, int] = IdentityMap()  # the phase that an optimizer's step interrupted

    def before(optimizer: Optimizer, _args: tuple[object, ...], _kwargs: dict[str, object]) -> None:
        phases.set(optimizer, session.phase)
        if session.phase == PHASE_BACKWARD:
            session.labels.gradients_of(optimizer)
        session.set_phase(PHASE_OPTIMIZER)
        session.labels.optimizer(optimizer)
        size = sum(len(group["params"]) for group in optimizer.param_groups)
        if facts_known.get(optimizer) != size:
            facts_known.set(optimizer, size)
            for key, value in optimizer_facts(torch, optimizer).items():
                session.core.annotate(key, value)

    def after(optimizer: Optimizer, _args: tuple[object, ...], _kwargs: dict[str, object]) -> None:
        session.labels.optimizer_states(optimizer)
        if not counted or counted[0]() is None:
            counted[:] = [weakref.ref(optimizer)]
        in_backward = phases.get(optimizer) == PHASE_BACKWARD
        session.set_phase(PHASE_BACKWARD if in_backward else PHASE_OTHER)
        if counted[0]() is optimizer:
            session.optimizer_stepped(in_backward)

    quiet = quieter(torch)
    optimizers = importlib.import_module("torch.optim.optimizer")  # torch.optim deletes its attribute of this name
    optimizers.register_optimizer_step_pre_hook(quiet(before))
    optimizers.register_optimizer_step_post_hook(quiet(after))
