# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments with which optimizers of torch.optim are made."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace._patching import patches
from memtrace._patching.signal_exceptions import raise_if_from_outside

if TYPE_CHECKING:
    from torch import Tensor

Arguments = dict[str, Any]  # by name, for any class's constructor: each change knows those that it reads


def adapt(torch: ModuleType, option: str, change: Callable[[Arguments], None]) -> None:
    """Lets `change` see and change the arguments of every class of torch.optim that takes `option`.

    The object itself is "self". A class that calls its base's constructor counts once.
    """
    constructed: set[int] = set()  # ids of the objects whose constructors run
    for made in list(vars(torch.optim).values()):
        if isinstance(made, type) and option in inspect.signature(made).parameters:
            original: Callable[..., None] = made.__init__  # type: ignore[misc]
            patches.put(
                made,
                "__init__",
                _adapted(original, change, constructed),
                "torch.optim.*.__init__: changes an optimizer's arguments, for the changes fused and loop",
            )


def _adapted(
    original: Callable[..., None], change: Callable[[Arguments], None], constructed: set[int]
) -> Callable[..., None]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def construct(*args: object, **kwargs: object) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:  # torch itself raises it with a better sentence
            raise_if_from_outside(error)
            original(*args, **kwargs)
            return
        key = id(bound.arguments["self"])
        if key in constructed:
            original(*args, **kwargs)
            return
        constructed.add(key)
        try:
            change(bound.arguments)
            original(*bound.args, **bound.kwargs)
        finally:
            constructed.discard(key)

    return construct


def tensors(torch: ModuleType, arguments: Arguments) -> Iterator[Tensor]:
    """Yields the tensors of `params` in any of its forms; makes lists of iterators, which can be read only once."""
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


def groups_set(arguments: Arguments, *options: str) -> bool:
    """True if a parameter group sets one of these options itself; call it after `tensors`."""
    params = arguments["params"]
    return isinstance(params, list) and any(set(options) & set(entry) for entry in params if isinstance(entry, dict))


def _without_name(entry: Tensor | tuple[str, Tensor]) -> Tensor:
    return entry[1] if isinstance(entry, tuple) else entry
