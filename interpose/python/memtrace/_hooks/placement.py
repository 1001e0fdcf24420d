# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that get their memory without registration hooks: accelerate's, and swapped ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.quiet import quieter
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def watch(torch: ModuleType, session: Session) -> None:
    """Watches torch, and accelerate once it is imported."""
    _watch_swaps(torch, session)
    when_imported("accelerate.utils.modeling", lambda module: _watch_placement(module, torch, session))


def _watch_swaps(torch: ModuleType, session: Session) -> None:
    """Drops our weak references during a swap, because torch raises if a swapped tensor has any."""
    original = torch.utils.swap_tensors
    forget, restore = quieter(torch)(session.labels.forget), quieter(torch)(session.labels.restore)

    @functools.wraps(original)
    def swap_tensors(t1: Tensor, t2: Tensor) -> None:
        known: list[object] = []
        forget((t1, t2), known)
        try:
            original(t1, t2)
        finally:
            restore(known)

    patches.put(
        torch.utils,
        "swap_tensors",
        swap_tensors,
        "torch.utils.swap_tensors: removes labels during the swap, because they would prevent it",
    )


def _watch_placement(module: ModuleType, torch: ModuleType, session: Session) -> None:
    original: Callable[..., object] | None = getattr(module, "set_module_tensor_to_device", None)
    if original is None:
        return

    def label(owner: Module, name: str) -> None:
        tensor = functools.reduce(getattr, name.split("."), owner)
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        (session.labels.parameter if is_parameter else session.labels.buffer)(tensor, name)

    quiet_label = quieter(torch)(label)

    @functools.wraps(original)
    def set_module_tensor_to_device(*args: object, **kwargs: object) -> object:
        result = original(*args, **kwargs)
        quiet_label(*_named(*args, **kwargs))
        return result

    patches.put(
        module,
        "set_module_tensor_to_device",
        set_module_tensor_to_device,
        "accelerate.utils.modeling.set_module_tensor_to_device: labels the parameters that it places",
    )


def _named(module: object, tensor_name: object, *_args: object, **_kwargs: object) -> tuple[object, object]:
    return module, tensor_name
