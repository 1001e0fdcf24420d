# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing: what backward computes again has a phase of its own, and the tags of its forward."""

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._identity_map import IdentityMap
from memtrace._say import say
from memtrace._session import Session


def watch(torch: ModuleType, session: Session) -> None:
    """Watches both kinds of torch.utils.checkpoint; other implementations show by the modules that they call."""
    checkpoint = importlib.import_module("torch.utils.checkpoint")
    is_compiling = torch.compiler.is_compiling
    if hasattr(checkpoint, "_CheckpointFrame") and hasattr(checkpoint, "CheckpointFunction"):
        _watch_not_reentrant(checkpoint._CheckpointFrame, session, is_compiling)
        _watch_reentrant(checkpoint.CheckpointFunction, session, is_compiling)
    else:
        say(f"torch {torch.__version__} checkpoints in a way that is not known: recomputed memory may lack its owner")


def _watch_not_reentrant(frame_class: Any, session: Session, is_compiling: Callable[[], bool]) -> None:
    """A frame is made where checkpoint() is called; its function runs when backward first needs what was dropped."""
    original = frame_class.__init__

    @functools.wraps(original)
    def make(frame: Any, recompute: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        if is_compiling():
            original(frame, recompute, *args, **kwargs)
            return
        scope = session.core.current_scope()

        @functools.wraps(recompute)
        def recompute_in_scope(*inputs: Any) -> Any:
            with session.recomputing(scope):
                return recompute(*inputs)

        original(frame, recompute_in_scope, *args, **kwargs)

    frame_class.__init__ = make


def _watch_reentrant(function_class: Any, session: Session, is_compiling: Callable[[], bool]) -> None:
    """Recomputes and runs an inner backward, which has a phase of its own again."""
    forward, backward = function_class.forward, function_class.backward
    scopes: IdentityMap[int] = IdentityMap()  # by the context of the call

    @functools.wraps(forward)
    def forward_noting(context: Any, *args: Any) -> Any:
        if not is_compiling():
            scopes.set(context, session.core.current_scope())
        return forward(context, *args)

    @functools.wraps(backward)
    def backward_in_scope(context: Any, *gradients: Any) -> Any:
        scope = None if is_compiling() else scopes.get(context)
        if scope is None:
            return backward(context, *gradients)
        with session.recomputing(scope):
            return backward(context, *gradients)

    function_class.forward = staticmethod(forward_noting)
    function_class.backward = staticmethod(backward_in_scope)
