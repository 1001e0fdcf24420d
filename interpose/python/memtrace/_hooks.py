# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks into torch, without touching the script: here those of modules, with the registration of all others."""

import functools
import importlib
import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from memtrace import _communication, _generation, _passes, _placement, _profilers, _recomputation, _threads
from memtrace._core import (
    PHASE_BACKWARD,
    PHASE_EVALUATE,
    PHASE_FORWARD,
    PHASE_GENERATE,
    PHASE_RECOMPUTE,
)
from memtrace._identity_map import IdentityMap
from memtrace._quiet import quieter
from memtrace._session import Session


def register(torch: ModuleType, session: Session) -> None:
    """Registers all hooks of this package with torch, once a process."""
    _ModuleHooks(torch, session).register()
    _passes.watch_backward(torch, session)
    _passes.watch_optimizers(torch, session)
    _recomputation.watch(torch, session)
    _generation.watch(torch, session)
    _placement.watch(torch, session)
    _communication.watch(torch, session)
    _profilers.watch(torch, session.core)
    _threads.watch(session.core)


class _Thread:
    """What a thread is in the middle of. With slots: the hooks of every module look at it."""

    __slots__ = ("depth", "is_recomputing", "moving", "outermost", "outermost_id")

    def __init__(self) -> None:
        self.depth = 0  # modules whose forward runs
        self.outermost: weakref.ref[Any] | None = None  # the first of them
        self.outermost_id = 0
        self.moving = 0  # nested Module._apply calls (.to, .cuda, .half ...)
        self.is_recomputing = False  # since the outermost of them


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.mine = _Thread()


class _ModuleHooks:
    """Forward of modules: the phase, and whose allocation it is."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._threads = _PerThread()
        self._paths: IdentityMap[tuple[int, int]] = IdentityMap()  # length of the path, its number
        self._roots: IdentityMap[bool] = IdentityMap()

    def register(self) -> None:
        modules = self._torch.nn.modules.module
        quiet = quieter(self._torch)
        modules.register_module_parameter_registration_hook(quiet(self._parameter_registered))
        modules.register_module_buffer_registration_hook(quiet(self._buffer_registered))
        modules.register_module_forward_pre_hook(self._quick_before(quiet(self._before_forward)))
        modules.register_module_forward_hook(self._quick_after(quiet(self._after_forward)), always_call=True)
        self._watch_moves(modules.Module, quiet(self._session.labels.module))
        self._watch_functional_calls(quiet(self._session.labels.functional))

    def _parameter_registered(self, _module: Any, name: str, tensor: Any) -> None:
        if tensor is not None:
            self._session.labels.parameter(tensor, name)

    def _buffer_registered(self, _module: Any, name: str, tensor: Any) -> None:
        if tensor is not None:
            self._session.labels.buffer(tensor, name)

    def _quick_before(self, other: Callable[..., None]) -> Callable[..., None]:
        """A known module within another, which nearly all are: nothing of torch is called, nothing needs quieting."""
        threads, paths, push = self._threads, self._paths.entries, self._session.core.push_module
        is_compiling = self._torch.compiler.is_dynamo_compiling

        def before(module: Any, arguments: Any) -> None:
            if is_compiling():
                return
            mine, key = threads.mine, id(module)
            found = paths.get(key)
            if found is None or not mine.depth or found[0]() is not module or mine.outermost_id == key:
                other(module, arguments)
                return
            mine.depth += 1
            push(found[1][1])

        return before

    def _quick_after(self, other: Callable[..., None]) -> Callable[..., None]:
        threads, pop = self._threads, self._session.core.pop_module
        is_compiling = self._torch.compiler.is_dynamo_compiling

        def after(module: Any, arguments: Any, result: Any) -> None:
            if is_compiling():
                return
            mine = threads.mine
            if mine.depth < 2:
                other(module, arguments, result)
                return
            mine.depth -= 1
            pop()

        return after

    def _before_forward(self, module: Any, arguments: Any) -> None:
        thread = self._threads.mine
        if thread.depth and thread.outermost is not None and thread.outermost() is module:
            self._forget_interrupted()
        thread.depth += 1
        path = 0
        try:
            if thread.depth == 1:
                thread.outermost, thread.outermost_id = weakref.ref(module), id(module)
                self._outermost(module, arguments)
            path = (self._paths.get(module) or self._name_newcomer(module))[1]
        finally:  # as often as it is popped
            self._session.core.push_module(path)

    def _after_forward(self, _module: Any, _arguments: Any, _result: Any) -> None:
        thread = self._threads.mine
        if thread.depth:
            thread.depth -= 1
            self._session.core.pop_module()
            if thread.depth == 0 and thread.is_recomputing:
                thread.is_recomputing = False
                self._session.set_phase(PHASE_BACKWARD)

    def _forget_interrupted(self) -> None:
        """A forward that a KeyboardInterrupt ended called no hook; the next one of the same model shows it."""
        thread = self._threads.mine
        while thread.depth:
            thread.depth -= 1
            self._session.core.pop_module()

    def _name_newcomer(self, module: Any) -> tuple[int, int]:
        """A part that came after the whole was named (an adapter, say), or that is no part of it."""
        outermost = self._threads.mine.outermost
        root = outermost() if outermost is not None else None
        if root is not None:
            self._name_parts(root)
            self._session.labels.module(root)
        found = self._paths.get(module)
        if found is None:  # no part: do not look again
            found = (-1, 0)
            self._paths.set(module, found)
        return found

    def _outermost(self, module: Any, arguments: Any) -> None:
        session = self._session
        if self._roots.get(module) is None:
            self._roots.set(module, True)
            self._name_parts(module)
            session.labels.module(module)
        training = self._torch.is_grad_enabled()
        if session.phase == PHASE_BACKWARD:
            # Checkpointing of a kind that is not known (_recomputation knows torch's).
            self._threads.mine.is_recomputing = training
            if training:
                session.set_phase(PHASE_RECOMPUTE)
        elif session.phase != PHASE_RECOMPUTE:
            if session.phase != PHASE_GENERATE:
                session.first_forward()
                session.set_phase(PHASE_FORWARD if training else PHASE_EVALUATE)
            session.labels.inputs((arguments, _keyword_arguments()))

    def _name_parts(self, root: Any) -> None:
        """The longest path heard of a module is kept: a part may be called on its own, before or after the whole."""
        for path, part in root.named_modules():
            known = self._paths.get(part)
            if known is None or known[0] < len(path):
                self._paths.set(part, (len(path), self._session.core.intern(path)))

    def _watch_moves(self, module_class: Any, label: Any) -> None:
        original = module_class._apply
        threads = self._threads

        @functools.wraps(original)
        def apply(module: Any, *args: Any, **kwargs: Any) -> Any:
            thread = threads.mine
            thread.moving += 1
            try:
                return original(module, *args, **kwargs)
            finally:
                thread.moving -= 1
                if thread.moving == 0:
                    label(module)

        module_class._apply = apply

    def _watch_functional_calls(self, label: Any) -> None:
        """torch.func.functional_call puts other tensors in the place of a module's own for a moment."""
        stateless = importlib.import_module("torch.nn.utils.stateless")
        original: Callable[..., Any] | None = getattr(stateless, "_functional_call", None)
        if original is None:
            return

        @functools.wraps(original)
        def functional_call(module: Any, tensors: Any, *args: Any, **kwargs: Any) -> Any:
            label(module, tensors)
            return original(module, tensors, *args, **kwargs)

        stateless._functional_call = functional_call  # type: ignore[attr-defined]


def _keyword_arguments() -> Any:
    """What the module is called with by name, which hooks of all modules are not given: from torch's own frame."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(8):
        if frame is None:
            return None
        if frame.f_code.co_name == "inner" and "kwargs" in frame.f_code.co_freevars:
            return frame.f_locals.get("kwargs")
        frame = frame.f_back
    return None
