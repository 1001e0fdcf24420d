# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A hook of each call of a module, without touching the script: which module runs, and in which phase."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.c_abi import UNKNOWN_MODULE
from memtrace._core.vocabulary import PHASE_BACKWARD, PHASE_EVALUATE, PHASE_FORWARD, PHASE_GENERATE, PHASE_RECOMPUTE
from memtrace._hooks.call_facts import CallFacts
from memtrace._hooks.untrained_passes import UntrainedPasses
from memtrace._patching import patches
from memtrace._patching.quiet import quieter
from memtrace._process.identity_map import IdentityMap
from memtrace._process.labels import without_wrapper
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module


def watch(torch: ModuleType, session: Session) -> None:
    """Notes each call of a module."""
    _ModuleCalls(torch, session).register()


def _shown_path(name: str, module: Module) -> str:
    """Returns the shown path: a part in torch.compile's wrapper keeps its own, a whole model has the region's name."""
    path = without_wrapper(name)
    if path:
        return path
    wrapped = getattr(module, "_orig_mod", None)
    if wrapped is None and getattr(module, "_compiled_call_impl", None) is not None:
        wrapped = module
    return path if wrapped is None else f"torch.compile({type(wrapped).__name__})"


class _Thread:
    """The state of a thread, beside the modules that the core counts."""

    def __init__(self) -> None:
        self.outermost: weakref.ref[Module] | None = None  # of the modules whose forward runs, or the last that did
        self.is_recomputing = False  # since the outermost of them began
        self.is_untrained = False  # true while the outermost computes for nobody


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.mine = _Thread()


class _ModuleCalls:
    """Sets the phase and the module that owns allocations at each call."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._call_facts = CallFacts(torch, session)
        self._untrained = UntrainedPasses(torch, session)
        self._threads = _PerThread()
        self._numbers: dict[int, int] = {}  # numbers of paths, by id of a living module
        self._paths: IdentityMap[Module, tuple[int, int]] = IdentityMap(self._numbers)  # length of the path, its number
        self._roots: IdentityMap[Module, bool] = IdentityMap()

    def register(self) -> None:
        quiet = quieter(self._torch)
        module_class = self._torch.nn.modules.module.Module
        self._watch_calls(module_class, quiet(self._enter_outermost_or_new), quiet(self._after_outermost))

    def _watch_calls(
        self, module_class: type[Module], look_closer: Callable[..., object], after: Callable[..., object]
    ) -> None:
        """Wraps each call of a module; hooks of torch for all modules would make each call ten times slower than this.

        A known module within another, which nearly all are, costs two built-in functions. torch.compile leaves this
        out if it was set before torch._dynamo was imported; else it reads no further than the first line.
        """
        original = module_class.__call__
        # The wrapper does what torch's own function does, so that no call has an additional frame.
        code = getattr(original, "__code__", None)
        is_known = code is not None and code.co_names == ("_compiled_call_impl", "_call_impl")
        numbers = self._numbers
        enter, leave = self._session.core.enter_module, self._session.core.leave_module
        is_compiling = self._torch.compiler.is_dynamo_compiling

        @functools.wraps(original)
        def call(module: Module, *args: object, **kwargs: object) -> object:
            if is_compiling():
                return original(module, *args, **kwargs)
            number = numbers.get(id(module), UNKNOWN_MODULE)
            try:  # includes entering: a signal handler may raise after every call
                if not enter(number):
                    look_closer(module, args, kwargs)
                if is_known and module._compiled_call_impl is None:
                    return module._call_impl(*args, **kwargs)
                return original(module, *args, **kwargs)
            finally:
                if leave():
                    after()

        patches.put(module_class, "__call__", call, "torch.nn.Module.__call__: notes which module runs")

    def _enter_outermost_or_new(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        """Handles a module just entered that is the outermost of this thread, or is not known yet."""
        core = self._session.core
        if core.module_depth() == 1:
            self._threads.mine.outermost = weakref.ref(module)
            if self._session.idle_models is not None:
                self._session.idle_models.began(module, (args, kwargs), self._torch.is_grad_enabled())
            self._outermost(module, args, kwargs)
        path = (self._paths.get(module) or self._name_late_part(module))[1]
        core.pop_module()
        core.push_module(path)

    def _after_outermost(self) -> None:
        thread = self._threads.mine
        if self._session.idle_models is not None and thread.outermost is not None:
            self._session.idle_models.ended(thread.outermost())
        if thread.is_recomputing:
            thread.is_recomputing = False
            self._session.set_phase(PHASE_BACKWARD)
        if thread.is_untrained:
            thread.is_untrained = False
            self._untrained.ended()

    def _name_late_part(self, module: Module) -> tuple[int, int]:
        """Names a part that was added after its model was named, such as an adapter, or that is not part of it."""
        outermost = self._threads.mine.outermost
        root = outermost() if outermost is not None else None
        if root is not None:
            self._name_parts(root)
            self._session.labels.module(root)
        found = self._paths.get(module)
        if found is None:  # not a part: do not look again
            found = (-1, 0)
            self._set_path(module, *found)
        return found

    def _outermost(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        session = self._session
        if self._roots.get(module) is None:
            self._roots.set(module, True)
            self._name_parts(module)
            session.labels.module(module)
        training = self._torch.is_grad_enabled()
        if session.phase == PHASE_BACKWARD:
            # This is checkpointing of an unknown kind (recomputation.py handles torch's).
            self._threads.mine.is_recomputing = training
            if training:
                session.set_phase(PHASE_RECOMPUTE)
        elif session.phase == PHASE_RECOMPUTE:
            if session.labels.roots.has(module):
                self._call_facts.recomputed_whole(module)
        else:
            if session.phase != PHASE_GENERATE:
                session.forward_begins()
                session.set_phase(PHASE_FORWARD if training else PHASE_EVALUATE)
            session.forwards += 1
            if training:
                session.passes.began(module)
                self._threads.mine.is_untrained = self._untrained.began(module, args, kwargs)
            session.labels.inputs((args, kwargs))
            self._call_facts.see(module, args, kwargs)

    def _name_parts(self, root: Module) -> None:
        """Keeps the longest path of each module, because a part may be called alone before or after its model."""
        for name, part in root.named_modules():
            path = _shown_path(name, part)
            known = self._paths.get(part)
            if known is None or known[0] < len(path):
                self._set_path(part, len(path), self._session.core.intern(path))

    def _set_path(self, module: Module, length: int, number: int) -> None:
        self._paths.set(module, (length, number))
        self._numbers[id(module)] = number
