# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces torch's Adam and AdamW by bitsandbytes' Adam8bit and AdamW8bit."""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._change import Change
from memtrace._changes._optimizer_arguments import Arguments
from memtrace._changes._program_line import program_line
from memtrace._patching import patches
from memtrace._patching.library_parts import imported_part
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.optim import Optimizer

_CLASSES = {"Adam": "Adam8bit", "AdamW": "AdamW8bit"}
# The options that bitsandbytes does not have.
_UNKNOWN = ("amsgrad", "maximize", "capturable", "differentiable")
_SHARED = ("params", "lr", "betas", "eps", "weight_decay")


def watch(torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from now on, and only to these classes: a derived class expects its own base."""
    classes = {getattr(torch.optim, name): eight_bits for name, eight_bits in _CLASSES.items()}

    @functools.wraps(torch.optim.Adam.__init__)  # inspect.signature still returns the original one
    def new(asked: type[Optimizer], *args: object, **kwargs: object) -> object:
        given = _arguments(torch, asked, args, kwargs) if asked in classes else None
        made = None if given is None else _class_of_eight_bits(classes[asked], given)
        # Nothing may read the parameters before this: they may come from a generator.
        if given is None or made is None or not change.found_and_made(asked.__name__, program_line()):
            return object.__new__(asked)
        return _quantized(asked, made, given)

    # AdamW inherits it. The new object is not an instance of the requested class, so its __init__ is not called.
    patches.put(
        torch.optim.Adam,
        "__new__",
        new,
        "torch.optim.Adam.__new__: makes an optimizer of bitsandbytes, for the change adam8bit",
    )


def _arguments(
    torch: ModuleType, asked: type[Optimizer], args: tuple[object, ...], kwargs: dict[str, object]
) -> Arguments | None:
    """Returns the constructor's arguments, or None if bitsandbytes has no optimizer for them."""
    try:
        bound = inspect.signature(asked.__init__).bind(None, *args, **kwargs)
        bound.apply_defaults()
    except TypeError as error:  # a copy, or the program's error
        raise_if_from_outside(error)
        return None
    given = bound.arguments
    is_known = not any(given.get(option) for option in _UNKNOWN) and not isinstance(given["lr"], torch.Tensor)
    return given if is_known else None


def _class_of_eight_bits(name: str, given: Arguments) -> type[Optimizer] | None:
    """Returns the class of bitsandbytes for these arguments; None if it has none, or cannot be imported."""
    is_decoupled = bool(given.get("decoupled_weight_decay"))
    found = imported_part("bitsandbytes.optim", "AdamW8bit" if is_decoupled else name)
    return None if found is None else found.original


def _quantized(asked: type[Optimizer], made: type[Optimizer], given: Arguments) -> Optimizer:
    optimizer: Optimizer = made(**{option: given[option] for option in _SHARED})
    optimizer.__class__ = _class_posing_as(asked, made)
    return optimizer


def _class_posing_as(asked: type[Optimizer], made: type[Optimizer]) -> type[Optimizer]:
    """Returns a class of `made` whose instances pass for instances of `asked`."""
    return type(made.__name__, (made,), {"__class__": property(lambda _optimizer: asked)})
