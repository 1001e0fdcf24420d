# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""memtrace in one process that uses torch: installs the allocator, registers hooks, and ends the trace at exit."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import json
import os
import platform
import sys
from collections.abc import Callable, Generator
from types import ModuleType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from memtrace._core.c_abi import Core, core
from memtrace._core.package import shim_library
from memtrace._core.vocabulary import (
    FORWARD_CALLS,
    PHASE_BACKWARD,
    PHASE_GENERATE,
    PHASE_INIT,
    PHASE_OTHER,
    PHASE_RECOMPUTE,
    PROGRAM_EXCEPTION,
)
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process import autograd_threads, collection, out_of_memory_text
from memtrace._process.forward_passes import ForwardPasses
from memtrace._process.identity_map import IdentityMap
from memtrace._process.idle_models import IdleModels, addresses_of
from memtrace._process.labels import Labels
from memtrace._program.script import script_facts
from memtrace._start import host_values
from memtrace._text.say import say

if TYPE_CHECKING:
    from torch.optim import Optimizer

P = ParamSpec("P")
R = TypeVar("R")

_current: Session | None = None


def current_session() -> Session | None:
    """Returns the session of this process; None if memtrace is off."""
    return _current


def begin_session(torch: ModuleType, minor: str) -> Session | None:
    """Makes the session of this process; None if one exists already."""
    global _current
    if _current is not None:
        return None
    _current = Session(torch, minor)
    atexit.register(_current.close)
    return _current


class Session:
    """State shared by the hooks and the API. Phases and steps belong to the process, not to a thread."""

    def __init__(self, torch: ModuleType, minor: str) -> None:
        """Installs the allocator. Raises OSError if a library cannot be loaded."""
        self.core: Core = core()
        self.phase = PHASE_INIT
        self._steps_begun = 0
        self._steps_are_stated = False
        self.forwards = 0  # outermost calls of modules
        self.passes = ForwardPasses()  # ... with gradients on
        self.optimizers: IdentityMap[Optimizer, bool] = IdentityMap()  # living optimizers
        self._has_failed = False  # a request for memory has failed since the latest forward began
        self._ends_with_backward = False  # the step ends with it, because an optimizer stepped within it
        self.after_step: list[Callable[[bool], object]] = []  # the argument is true if the program stated the step
        self.before_forward: list[Callable[[], object]] = []  # called as an outermost module is called
        self.at_phase: list[Callable[[int], object]] = []  # called as the program enters a phase
        self.before_backward: list[Callable[[], object]] = []  # called as a backward pass begins
        self.at_failure: list[Callable[[], object]] = []  # called when a request for memory has failed
        self.with_labels: list[Callable[[], object]] = []  # called whenever everything is labelled
        self.before_close: list[Callable[[], object]] = []
        self._torch = torch
        self._shim = ctypes.CDLL(str(shim_library(minor)))
        self.labels = Labels(self.core, ctypes.PyDLL(str(shim_library(minor))))
        self.idle_models = IdleModels(self.labels.roots, self.optimizers) if os.environ.get("MEMTRACE_SPILL") else None
        self.allocator = allocator = _install_allocator(torch, self._shim)
        if allocator == "native" and hasattr(torch, "OutOfMemoryError"):
            out_of_memory_text.explain(torch, self.core)
        self.state_facts()
        if collection.is_wanted():
            collection.start(self.core, allocator)
        self.host_values = host_values.start(self._shim)
        self.is_recorded = os.environ.get("MEMTRACE_TRACE") != "0"
        if self.is_recorded:
            self.core.set_phase(PHASE_INIT)
            self.core.before_out_of_memory(self._before_out_of_memory)
            self.core.before_spill(self._before_spill)

    def state_facts(self) -> None:
        """States what the header of the trace tells about this process; before CUDA is used."""
        card = os.environ.get("MEMTRACE_CARD", "")
        facts = {
            **script_facts(),
            "command": os.environ.get("MEMTRACE_COMMAND") or json.dumps(sys.orig_argv),
            "python": platform.python_version(),
            "torch": str(self._torch.__version__),
            "cuda": str(self._torch.version.cuda),
            "allocator": self.allocator,
            "card": card,
            "simulated": "1" if card else "0",
            "rank": os.environ.get("RANK", ""),
        }
        for key, value in facts.items():
            self.core.set_info(key, value)

    def set_phase(self, phase: int) -> None:
        """Notes that the program enters another phase."""
        if phase != self.phase:
            self.phase = phase
            self.core.set_phase(phase)
            for enter in self.at_phase:
                enter(phase)

    @contextlib.contextmanager
    def in_phase(self, phase: int) -> Generator[None, None, None]:
        """Sets a phase for the duration, then restores the earlier one."""
        before = self.phase
        try:
            self.set_phase(phase)
            yield
        finally:
            self.set_phase(before)

    @contextlib.contextmanager
    def in_scope(self, scope: int) -> Generator[None, None, None]:
        """Sets this thread's owner and module for the duration."""
        try:
            self.core.enter_scope(scope)
            yield
        finally:
            self.core.leave_scope()

    @contextlib.contextmanager
    def recomputing(self, scope: int) -> Generator[None, None, None]:
        """Marks recomputation in backward, on this thread, of a forward in that scope."""
        try:
            self.core.enter_scope(scope)
            self.set_phase(PHASE_RECOMPUTE)
            yield
        finally:
            self.set_phase(PHASE_BACKWARD)
            self.core.leave_scope()

    def with_role(self, role: int, function: Callable[P, R]) -> Callable[P, R]:
        """Wraps `function` so that its allocations on its thread have the role."""
        core, is_compiling = self.core, self._torch.compiler.is_compiling

        @functools.wraps(function)
        def state(*args: P.args, **kwargs: P.kwargs) -> R:
            if is_compiling():
                return function(*args, **kwargs)
            try:
                core.push_role(role)
                return function(*args, **kwargs)
            finally:
                core.pop_role()

        return state

    def forward_begins(self) -> None:
        """Notes that an outermost module is called, but not by generation.

        The first step begins with the first forward, unless the program counts its steps itself. A forward after an
        out-of-memory is a new one, because the program tries again.
        """
        for look in self.before_forward:
            look()
        if self._has_failed:
            self._has_failed = False
            self.set_phase(PHASE_OTHER)
        if self._steps_begun == 0:
            self._begin_step()

    def optimizer_stepped(self, in_backward: bool = False) -> None:
        """Notes an optimizer step, which ends a training step unless the program counts its steps itself.

        If a hook within a backward made it, the training step ends with the backward.
        """
        self._ends_with_backward = in_backward
        if not in_backward and not self._steps_are_stated:
            self._end_step()

    def backward_begins(self) -> None:
        """Notes that a backward pass begins."""
        for look in self.before_backward:
            look()
        self.passes.backward_began()
        self.set_phase(PHASE_BACKWARD)

    def backward_ended(self) -> None:
        """Notes that a backward pass is over."""
        if self.idle_models is not None:
            self.idle_models.graphs_are_gone()
        if self._ends_with_backward:
            self.optimizer_stepped()

    def step(self) -> None:
        """Notes that the program ends a step here."""
        self._steps_are_stated = True
        self._end_step()

    def _end_step(self) -> None:
        if self.idle_models is not None:
            self.idle_models.graphs_are_gone()
        for watch in self.after_step:
            watch(self._steps_are_stated)
        self._begin_step()

    def _begin_step(self) -> None:
        self._steps_begun += 1
        self.core.begin_step()
        self.host_values.begin_step()

    def push_tag(self, name: str) -> None:
        """Begins an owner on this thread."""
        self.core.push_tag(self.core.intern(name))

    def pop_tag(self) -> None:
        """Ends the innermost owner of this thread."""
        self.core.pop_tag()

    @property
    def step_number(self) -> int:
        """The number of the step, from 1; 0 before the first."""
        return self._steps_begun

    def _before_out_of_memory(self) -> None:
        self._has_failed = True
        self._label_safely(self._look_at_failure)

    def _before_spill(self) -> None:
        self._label_safely(self._state_idle_models)

    def _state_idle_models(self) -> None:
        if self.idle_models is None:
            return
        try:
            for model in self.idle_models.find(is_generating=self.phase == PHASE_GENERATE):
                for device, addresses in addresses_of(model).items():
                    self.core.note_idle(device, addresses)
        except Exception as error:  # other memory may move
            raise_if_from_outside(error)
            say(f"Idle models could not be found ({type(error).__name__}: {error}).")

    def _label_safely(self, look: Callable[[], object] | None = None) -> None:
        collects = gc.isenabled()
        try:
            gc.disable()  # it would free what the looks search for, and run the program's finalizers
            if look is not None:
                look()
            self._label_everything()
        finally:
            if collects:
                gc.enable()

    def _look_at_failure(self) -> None:
        try:
            with self._torch._C.DisableTorchFunction():
                for look in self.at_failure:
                    look()
        except Exception as error:  # nothing may interrupt the report of an out-of-memory
            raise_if_from_outside(error)
            say(f"The holders of memory could not be found when it ran out ({type(error).__name__}: {error}).")

    def _label_everything(self) -> None:
        try:
            with self._torch._C.DisableTorchFunction():
                self.labels.label_everything()
            self.core.annotate(FORWARD_CALLS, str(self.forwards))
            for key, value in self.passes.facts().items():
                self.core.annotate(key, value)
            self._shim.memtrace_torch_label_workspaces()
        except Exception as error:  # nothing may interrupt the report of an out-of-memory
            raise_if_from_outside(error)
            say(f"Tensors could not be labelled ({type(error).__name__}: {error}).")
        for state in self.with_labels:
            self._state_safely(state)

    @staticmethod
    def _state_safely(state: Callable[[], object]) -> None:
        """States one kind of facts; if that fails, the others are stated all the same."""
        try:
            state()
        except Exception as error:  # as in _label_everything
            raise_if_from_outside(error)
            say(f"The trace lacks some facts about the program ({type(error).__name__}: {error}).")

    def close(self) -> None:
        """Labels all living tensors and ends the trace, which shows them at the end of the program."""
        try:
            autograd_threads.let_finish()
            if self.is_recorded:
                self._label_everything()
                self._annotate_end()
                self.host_values.annotate()
                self._state_last_facts()
        finally:
            self.core.close()

    def _annotate_end(self) -> None:
        """States the exception that ends the program, which the interpreter keeps if nobody caught it."""
        error = getattr(sys, "last_value", None)
        self.core.annotate(PROGRAM_EXCEPTION, "none" if error is None else type(error).__name__)

    def _state_last_facts(self) -> None:
        try:
            for state in self.before_close:
                state()
        except Exception as error:  # the trace must be closed all the same
            raise_if_from_outside(error)
            say(f"The end of the trial could not be written ({type(error).__name__}: {error}).")


def _install_allocator(torch: ModuleType, shim: ctypes.CDLL) -> str:
    """Installs our allocator or observes torch's own; returns the word for the trace's header."""
    if os.environ.get("MEMTRACE_ALLOCATOR", "memtrace") == "memtrace":
        if os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING"):
            say("PYTORCH_NO_CUDA_MEMORY_CACHING is set, so torch's own allocator stays and is observed.")
        elif shim.memtrace_torch_install() == 0:
            return "memtrace"
        else:
            say(
                "CUDA is already in use, so torch's own allocator stays and is observed from here on. "
                "Call memtrace.enable earlier."
            )

    def observe() -> None:
        if shim.memtrace_torch_observe(torch.cuda.device_count()) != 0:
            say("torch's allocator cannot be observed (backend:cudaMallocAsync cannot). The program is not recorded.")

    torch.cuda._lazy_call(observe)
    return "native"
