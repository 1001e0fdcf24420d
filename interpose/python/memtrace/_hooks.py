# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks into torch: phases, module paths, parameters, gradients and optimizer states, without touching the script."""

import functools
import importlib
import threading
import weakref
from types import ModuleType
from typing import Any

from memtrace._core import (
    PHASE_BACKWARD,
    PHASE_EVALUATE,
    PHASE_FORWARD,
    PHASE_OPTIMIZER,
    PHASE_OTHER,
)
from memtrace._identity_map import IdentityMap
from memtrace._optimizer_facts import optimizer_facts
from memtrace._quiet import quieter
from memtrace._say import say
from memtrace._session import Session


def register(torch: ModuleType, session: Session) -> None:
    """Registers all hooks of this package with torch, once a process."""
    _ModuleHooks(torch, session).register()
    _watch_backward(torch, session)
    _watch_optimizers(torch, session)


class _PerThread(threading.local):
    depth = 0  # modules whose forward runs on this thread
    outermost: "weakref.ref[Any] | None" = None  # the first of them
    moving = 0  # nested Module._apply calls (.to, .cuda, .half ...)


class _ModuleHooks:
    """Forward of modules: the phase, and whose allocation it is."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._thread = _PerThread()
        self._paths: IdentityMap[tuple[int, int]] = IdentityMap()  # length of the path, its number
        self._roots: IdentityMap[bool] = IdentityMap()

    def register(self) -> None:
        modules = self._torch.nn.modules.module
        quiet = quieter(self._torch)
        modules.register_module_parameter_registration_hook(quiet(self._parameter_registered))
        modules.register_module_forward_pre_hook(quiet(self._before_forward))
        modules.register_module_forward_hook(quiet(self._after_forward), always_call=True)
        self._watch_moves(modules.Module, quiet(self._session.labels.module_parameters))

    def _parameter_registered(self, _module: Any, name: str, tensor: Any) -> None:
        if tensor is not None:
            self._session.labels.parameter(tensor, name)

    def _before_forward(self, module: Any, _arguments: Any) -> None:
        thread = self._thread
        if thread.depth and thread.outermost is not None and thread.outermost() is module:
            self._forget_interrupted()
        thread.depth += 1
        path = 0
        try:
            if thread.depth == 1:
                thread.outermost = weakref.ref(module)
                self._outermost(module)
            path = (self._paths.get(module) or self._name_newcomer(module))[1]
        finally:  # as often as it is popped
            self._session.core.push_module(path)

    def _after_forward(self, _module: Any, _arguments: Any, _result: Any) -> None:
        if self._thread.depth:
            self._thread.depth -= 1
            self._session.core.pop_module()

    def _forget_interrupted(self) -> None:
        """A forward that a KeyboardInterrupt ended called no hook; the next one of the same model shows it."""
        while self._thread.depth:
            self._thread.depth -= 1
            self._session.core.pop_module()

    def _name_newcomer(self, module: Any) -> tuple[int, int]:
        """A part that came after the whole was named (an adapter, say), or that is no part of it."""
        root = self._thread.outermost() if self._thread.outermost is not None else None
        if root is not None:
            self._name_parts(root)
            self._session.labels.module_parameters(root)
        found = self._paths.get(module)
        if found is None:  # no part: do not look again
            found = (-1, 0)
            self._paths.set(module, found)
        return found

    def _outermost(self, module: Any) -> None:
        session = self._session
        # Recomputation under checkpointing calls modules while backward runs: it stays backward.
        if session.phase != PHASE_BACKWARD:
            training = self._torch.is_grad_enabled()
            session.first_forward()
            session.set_phase(PHASE_FORWARD if training else PHASE_EVALUATE)
        if self._roots.get(module) is None:
            self._roots.set(module, True)
            self._name_parts(module)
            session.labels.module_parameters(module)

    def _name_parts(self, root: Any) -> None:
        """The longest path heard of a module is kept: a part may be called on its own, before or after the whole."""
        for path, part in root.named_modules():
            known = self._paths.get(part)
            if known is None or known[0] < len(path):
                self._paths.set(part, (len(path), self._session.core.intern(path)))

    def _watch_moves(self, module_class: Any, label: Any) -> None:
        original = module_class._apply
        thread = self._thread

        @functools.wraps(original)
        def apply(module: Any, *args: Any, **kwargs: Any) -> Any:
            thread.moving += 1
            try:
                return original(module, *args, **kwargs)
            finally:
                thread.moving -= 1
                if thread.moving == 0:
                    label(module)

        module_class._apply = apply


def _watch_backward(torch: ModuleType, session: Session) -> None:
    """Watches where torch.autograd's functions call the engine; they stay themselves, for scripts and pickles."""
    original = getattr(torch.autograd, "_engine_run_backward", None)
    if original is None:
        say(f"torch {torch.__version__} runs backward in a way that is not known: its memory shows no backward phase")
        return
    quiet = quieter(torch)
    begin = quiet(functools.partial(session.set_phase, PHASE_BACKWARD))
    end = quiet(functools.partial(session.set_phase, PHASE_OTHER))
    label = quiet(session.labels.gradients)

    @functools.wraps(original)
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        before = session.phase
        begin()
        try:
            return original(*args, **kwargs)
        finally:
            if before != PHASE_BACKWARD:  # not the inner one of a reentrant checkpoint
                if kwargs.get("accumulate_grad"):
                    label()
                end()

    torch.autograd._engine_run_backward = run_backward


def _watch_optimizers(torch: ModuleType, session: Session) -> None:
    """The step of every optimizer: its phase, its states, and what its update is known to need for a moment."""
    facts_known: IdentityMap[int] = IdentityMap()
    counted: list[weakref.ref[Any]] = []  # the optimizer whose steps are the training's

    def before(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        session.set_phase(PHASE_OPTIMIZER)
        session.labels.optimizer(optimizer)
        size = sum(len(group["params"]) for group in optimizer.param_groups)
        if facts_known.get(optimizer) != size:
            facts_known.set(optimizer, size)
            for key, value in optimizer_facts(torch, optimizer).items():
                session.core.annotate(key, value)

    def after(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        session.labels.optimizer_states(optimizer)
        if not counted or counted[0]() is None:
            counted[:] = [weakref.ref(optimizer)]
        if counted[0]() is optimizer:
            session.optimizer_stepped()
        else:
            session.set_phase(PHASE_OTHER)

    quiet = quieter(torch)
    optimizers = importlib.import_module("torch.optim.optimizer")  # torch.optim deletes the name
    optimizers.register_optimizer_step_pre_hook(quiet(before))
    optimizers.register_optimizer_step_post_hook(quiet(after))
