# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that get their memory past the hooks of registration: accelerate's, and those that are swapped."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace import _patches
from memtrace._import_watch import when_imported
from memtrace._quiet import quieter
from memtrace._session import Session


def watch(torch: ModuleType, session: Session) -> None:
    """Watches torch, and accelerate once it is imported."""
    _watch_swaps(torch, session)
    when_imported("accelerate.utils.modeling", lambda module: _watch_placement(module, torch, session))


def _watch_swaps(torch: ModuleType, session: Session) -> None:
    """Tensors that someone refers to weakly, as our labels do, cannot be swapped: torch says so and raises."""
    original = torch.utils.swap_tensors
    let_go, refer = quieter(torch)(session.labels.let_go), quieter(torch)(session.labels.refer_again)

    @functools.wraps(original)
    def swap_tensors(t1: Any, t2: Any) -> None:
        known: list[Any] = []
        let_go((t1, t2), known)
        try:
            original(t1, t2)
        finally:
            refer(known)

    _patches.put(
        torch.utils,
        "swap_tensors",
        swap_tensors,
        "torch.utils.swap_tensors: tensors that labels refer to could not be swapped",
    )


def _watch_placement(module: ModuleType, torch: ModuleType, session: Session) -> None:
    original: Callable[..., Any] | None = getattr(module, "set_module_tensor_to_device", None)
    if original is None:
        return

    def label(owner: Any, name: str) -> None:
        tensor = functools.reduce(getattr, name.split("."), owner)
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        (session.labels.parameter if is_parameter else session.labels.buffer)(tensor, name)

    quiet_label = quieter(torch)(label)

    @functools.wraps(original)
    def set_module_tensor_to_device(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        quiet_label(*_named(*args, **kwargs))
        return result

    _patches.put(
        module,
        "set_module_tensor_to_device",
        set_module_tensor_to_device,
        "accelerate.utils.modeling.set_module_tensor_to_device: parameters that it places",
    )


def _named(module: Any, tensor_name: str, *_args: Any, **_kwargs: Any) -> tuple[Any, str]:
    return module, tensor_name
