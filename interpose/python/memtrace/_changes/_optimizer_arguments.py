# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is asked of an optimizer of torch.optim when it is made."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace._signal_exceptions import let_through

if TYPE_CHECKING:
    from torch import Tensor

Arguments = dict[str, Any]  # by name, of the constructor of any class: a change knows what those that it reads are


def adapt(torch: ModuleType, option: str, change: Callable[[Arguments], None]) -> None:
    """Has `change` see, and change, the arguments of every class of torch.optim that takes `option`."""
    for made in list(vars(torch.optim).values()):
        if isinstance(made, type) and option in inspect.signature(made).parameters:
            made.__init__ = _adapted(made.__init__, change)  # type: ignore[misc]


def _adapted(original: Callable[..., None], change: Callable[[Arguments], None]) -> Callable[..., None]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def construct(*args: object, **kwargs: object) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:  # whose sentence is torch's to say
            let_through(error)
            original(*args, **kwargs)
            return
        change(bound.arguments)
        original(*bound.args, **bound.kwargs)

    return construct


def tensors(torch: ModuleType, arguments: Arguments) -> Iterator[Tensor]:
    """Gives the tensors of `params`, in whichever of its forms; what can be gone through once is made a list."""
    if isinstance(arguments["params"], torch.Tensor):
        return
    arguments["params"] = list(arguments["params"])
    for entry in arguments["params"]:
        if not isinstance(entry, dict):
            yield _without_name(entry)
            continue
        if not isinstance(entry["params"], torch.Tensor):
            entry["params"] = list(entry["params"])  # as torch itself does
        held = [entry["params"]] if isinstance(entry["params"], torch.Tensor) else entry["params"]
        yield from map(_without_name, held)


def groups_say(arguments: Arguments, *options: str) -> bool:
    """Tells whether a parameter group states one of these options for itself; after `tensors`."""
    params = arguments["params"]
    return isinstance(params, list) and any(set(options) & set(entry) for entry in params if isinstance(entry, dict))


def _without_name(entry: Tensor | tuple[str, Tensor]) -> Tensor:
    return entry[1] if isinstance(entry, tuple) else entry
