# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of modules by the program itself, as opposed to calls within another module's forward."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module

Arguments = tuple[tuple[object, ...], dict[str, object]]


def around_each(
    torch: ModuleType,
    session: Session,
    prepare: Callable[[Module, tuple[object, ...], dict[str, object]], Arguments],
    finish: Callable[[Module, object], object] = lambda _module, output: output,
    fail: Callable[[], object] = lambda: None,
) -> None:
    """Calls `prepare` before every outermost module's forward, which gets the arguments that it returns.

    `finish` gets the module's result and returns the caller's; `fail` is called instead if the forward raises. Backward
    recomputes with the arguments of the first call.
    """
    modules = torch.nn.modules.module
    original = modules.Module.__call__
    depth, is_compiling = session.core.module_depth, torch.compiler.is_dynamo_compiling
    running_backward = torch._C._current_graph_task_id

    @functools.wraps(original)
    def call(module: Module, *args: object, **kwargs: object) -> object:
        if is_compiling() or depth() != 0 or running_backward() != -1:
            return original(module, *args, **kwargs)
        args, kwargs = prepare(module, args, kwargs)
        try:
            output = original(module, *args, **kwargs)
        except BaseException:
            fail()
            raise
        return finish(module, output)

    patches.put(
        modules.Module,
        "__call__",
        call,
        "torch.nn.Module.__call__: sees calls of outermost modules, for the changes of fit and run --with",
    )


def before_training(torch: ModuleType, session: Session, change_root: Callable[[Module], None]) -> None:
    """Calls `change_root` with each outermost module before each of its forwards that records gradients."""

    def prepare(module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        if torch.is_grad_enabled():
            change_root(module)
        return args, kwargs

    around_each(torch, session, prepare)
