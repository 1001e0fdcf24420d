# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Gradient checkpointing of the first K of the repeated blocks, or of all: `checkpoint[=K]`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace._changes._blocks import change_first, is_checkpointing_layer
from memtrace._changes._change import Change
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module

# Options of torch.utils.checkpoint.checkpoint. Their values may be functions.
Options = dict[str, Any]
_PLAIN: Options = {"use_reentrant": False}
# The arguments of transformers' layers with a cache, which a second forward would fill again.
_CACHES = ("past_key_values", "past_key_value", "layer_past")


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies before the first training forward of each outermost module that does not checkpoint by itself."""
    checkpoint_first(torch, session, change, _PLAIN)


def checkpoint_first(torch: ModuleType, session: Session, change: Change, options: Options) -> None:
    """Checkpoints blocks by the model's own switch if that reaches each of them, else around their forward."""

    def apply(root: Module, blocks: list[Module]) -> bool:
        if any(map(_is_checkpointed, root.modules())):
            return False
        switches = _switches(root, options)
        if switches and all(map(is_checkpointing_layer, blocks)):
            _switch_on(root, switches, blocks)
        elif switches and change.degree() is None and options is _PLAIN:
            for switch in switches:
                switch()
        else:
            _wrap(torch, blocks, options)
        return True

    change_first(torch, session, change, apply)


def _is_checkpointed(module: Module) -> bool:
    return bool(getattr(module, "gradient_checkpointing", False))


def _switches(root: Module, options: Options) -> list[Callable[[], object]]:
    """Returns the checkpointing switches of the outermost models of transformers and diffusers."""
    found: list[Callable[[], object]] = []
    waiting = [root]
    while waiting:
        module = waiting.pop()
        switch = _switch(module, options)
        if switch is None:
            waiting += module.children()
        else:
            found.append(switch)
    return found


def _switch(module: Module, options: Options) -> Callable[[], object] | None:
    if getattr(module, "supports_gradient_checkpointing", False):
        enable = getattr(module, "gradient_checkpointing_enable", None)
        return enable and functools.partial(enable, gradient_checkpointing_kwargs=dict(options))
    if getattr(module, "_supports_gradient_checkpointing", False):
        return getattr(module, "enable_gradient_checkpointing", None)
    return None


def _switch_on(root: Module, switches: list[Callable[[], object]], layers: list[Module]) -> None:
    """Switches on, then off again in the layers that are not among these."""
    for switch in switches:
        switch()
    wanted = set(map(id, layers))
    for module in root.modules():
        if is_checkpointing_layer(module) and id(module) not in wanted:
            module.gradient_checkpointing = False


def _wrap(torch: ModuleType, blocks: list[Module], options: Options) -> None:
    checkpoint = importlib.import_module("torch.utils.checkpoint").checkpoint
    for block in blocks:
        block.forward = _recomputed(torch, functools.partial(checkpoint, **options), block, block.forward)


def _recomputed(
    torch: ModuleType, checkpoint: Callable[..., object], block: Module, forward: Callable[..., object]
) -> Callable[..., object]:
    @functools.wraps(forward)
    def recomputed(*args: object, **kwargs: object) -> object:
        if not (block.training and torch.is_grad_enabled()):
            return forward(*args, **kwargs)
        without_caches = {name: None if name in _CACHES else value for name, value in kwargs.items()}
        return checkpoint(forward, *args, **without_caches)

    return recomputed
