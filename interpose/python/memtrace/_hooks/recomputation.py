# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing: recomputation in backward has its own phase, and the tags of its forward."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import CHECKPOINT_WITHOUT_GRADIENT
from memtrace._patching import patches
from memtrace._patching.quiet import quieter
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session
from memtrace._text.say import say

if TYPE_CHECKING:
    from torch.utils.checkpoint import CheckpointFunction, _CheckpointFrame


def watch(torch: ModuleType, session: Session) -> None:
    """Watches both kinds of torch.utils.checkpoint; other implementations show by the modules that they call."""
    checkpoint = importlib.import_module("torch.utils.checkpoint")
    is_compiling = torch.compiler.is_compiling
    if hasattr(checkpoint, "_CheckpointFrame") and hasattr(checkpoint, "CheckpointFunction"):
        _watch_not_reentrant(checkpoint._CheckpointFrame, session, is_compiling)
        _watch_reentrant(checkpoint.CheckpointFunction, session, is_compiling)
        _watch_inputs_without_gradient(torch, checkpoint.CheckpointFunction, session)
    else:
        say(f"torch {torch.__version__} checkpoints in an unknown way, so recomputed memory may have no owner.")


def _watch_not_reentrant(
    frame_class: type[_CheckpointFrame], session: Session, is_compiling: Callable[[], bool]
) -> None:
    """Watches frames, which checkpoint() makes; their functions run when backward first needs dropped tensors."""
    original = frame_class.__init__

    @functools.wraps(original)
    def make(frame: _CheckpointFrame, recompute: Callable[..., object], *args: object, **kwargs: object) -> None:
        if is_compiling():
            original(frame, recompute, *args, **kwargs)
            return
        scope = session.core.current_scope()

        @functools.wraps(recompute)
        def recompute_in_scope(*inputs: object) -> object:
            with session.recomputing(scope):
                return recompute(*inputs)

        original(frame, recompute_in_scope, *args, **kwargs)

    patches.put(
        frame_class,
        "__init__",
        make,
        "torch.utils.checkpoint._CheckpointFrame.__init__: notes the module that runs it, in which it recomputes",
    )


def _watch_reentrant(
    function_class: type[CheckpointFunction], session: Session, is_compiling: Callable[[], bool]
) -> None:
    """Watches backward, which recomputes and then runs an inner backward with a phase of its own."""
    forward, backward = function_class.forward, function_class.backward
    scopes: IdentityMap[object, int] = IdentityMap()  # by the context of the call

    @functools.wraps(forward)
    def forward_noting(context: object, *args: object) -> object:
        if not is_compiling():
            scopes.set(context, session.core.current_scope())
        return forward(context, *args)

    @functools.wraps(backward)
    def backward_in_scope(context: object, *gradients: object) -> object:
        scope = None if is_compiling() else scopes.get(context)
        if scope is None:
            return backward(context, *gradients)
        with session.recomputing(scope):
            return backward(context, *gradients)

    patches.put(
        function_class,
        "forward",
        forward_noting,
        "torch.utils.checkpoint.CheckpointFunction.forward: notes the module that runs it",
    )
    patches.put(
        function_class,
        "backward",
        backward_in_scope,
        "torch.utils.checkpoint.CheckpointFunction.backward: recomputes in that module",
    )


def _watch_inputs_without_gradient(
    torch: ModuleType, function_class: type[CheckpointFunction], session: Session
) -> None:
    """Annotates `checkpoint.without_gradient`: the place of a reentrant checkpoint that cuts a graph off.

    Autograd sees it as one function of the inputs. If none of them requires a gradient, none flows to its contents.
    """
    original = function_class.apply
    is_told: list[bool] = []

    def look(function: object, args: tuple[object, ...]) -> None:
        is_cut = torch.is_grad_enabled() and not any(getattr(value, "requires_grad", False) for value in args)
        if is_cut and not is_told and _trains(function, torch):
            is_told.append(True)
            session.core.annotate(CHECKPOINT_WITHOUT_GRADIENT, place_of_call())

    quiet_look = quieter(torch)(look)

    @functools.wraps(original)
    def apply(function: object, preserve: object, *args: object) -> object:
        quiet_look(function, args)
        return original(function, preserve, *args)

    patches.put(
        function_class,
        "apply",
        staticmethod(apply),
        "torch.utils.checkpoint.CheckpointFunction.apply: notes if it cuts the graph off",
    )


def _trains(function: object, torch: ModuleType) -> bool:
    """True if the module that a checkpoint runs has parameters to train, or is not known."""
    inner = getattr(function, "func", function)  # of functools.partial
    module = getattr(inner, "__self__", inner)  # of a bound method
    if not isinstance(module, torch.nn.Module):
        return True
    return any(parameter.requires_grad for parameter in module.parameters())


def place_of_call() -> str:
    """Returns the innermost line outside of torch and of this package: "train.py:18"."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("torch", "memtrace"):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
