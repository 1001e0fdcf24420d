# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Moves the memory of a whole model under a movable tag."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtrace._asleep import refusals
from memtrace._start.off import is_off
from memtrace._text.messages import translated

if TYPE_CHECKING:
    import torch

_ROUNDING = 512  # the allocator's unit
_numbers = itertools.count(1)


def movable(model: torch.nn.Module, tag: str | None = None) -> str:
    """Moves the parameters and buffers of a model on the card under a movable tag, so that it can sleep.

    Parameter objects, tied weights and optimizers stay as they are; addresses change. Each tensor is copied, so the
    card briefly needs room for a second copy of the largest one at least; with room for the whole model its memory
    comes in chunks of up to 1 GiB, which sleep and wake fastest. Gradients are not moved.

    Thread rule: the thread that uses the model. No graph may have been captured over the model before.

    Args:
        model: A module. Tensors on the host stay there.
        tag: The name of the tag; by default the class of the model and a number, such as "linear-1".

    Returns:
        The name of the tag, for `memtrace.sleep` and `memtrace.wake`.

    Raises:
        ValueError: If `tag` is not a tag.
        RuntimeError: If memtrace's allocator does not serve this process.
        TypeError: If a parameter or buffer is of a class of its own, whose memory cannot be replaced.

    Example:
        >>> import memtrace, torch
        >>> model = torch.nn.Linear(512, 512, device="cuda")
        >>> memtrace.movable(model, "reference")
        'reference'
        >>> memtrace.sleep("reference").card_bytes
        2097152
        >>> moved = memtrace.wake("reference")
    """
    from memtrace._public.api import tag as tagged

    name = tag if tag is not None else f"{type(model).__name__.lower()}-{next(_numbers)}"
    scope = tagged(name, movable=True)
    if is_off():
        return name
    refusals.check_allocator("movable")
    by_storage = _tensors_by_storage(model)
    with scope:
        _grow_once(by_storage)
        for tensors in by_storage.values():
            _replace_storage(tensors)
    _note_model(model)
    return name


def _note_model(model: torch.nn.Module) -> None:
    """Notes the model for `--spill`, which moves idle ones first."""
    from memtrace._process.session import current_session

    session = current_session()
    if session is not None and session.idle_models is not None:
        session.idle_models.know(model)


def _tensors_on_card(model: torch.nn.Module) -> Iterator[torch.Tensor]:
    seen: set[int] = set()
    for tensor in itertools.chain(model.parameters(), model.buffers()):
        if tensor.is_cuda and id(tensor) not in seen:
            seen.add(id(tensor))
            yield tensor


def _tensors_by_storage(model: torch.nn.Module) -> dict[int, list[torch.Tensor]]:
    import torch

    found: dict[int, list[torch.Tensor]] = {}
    for tensor in _tensors_on_card(model):
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            raise TypeError(
                translated(
                    "memtrace.movable: a $0 cannot be moved. Create the model inside memtrace.tag(..., movable=True).",
                    type(tensor).__name__,
                )
            )
        if tensor.untyped_storage().nbytes() > 0:
            found.setdefault(tensor.untyped_storage()._cdata, []).append(tensor)
    return found


def _grow_once(by_storage: dict[int, list[torch.Tensor]]) -> None:
    """Maps the memory of all copies at once, if the card has room, so that it comes in large chunks."""
    import torch

    needed: dict[torch.device, int] = {}
    for tensors in by_storage.values():
        size = tensors[0].untyped_storage().nbytes()
        needed[tensors[0].device] = needed.get(tensors[0].device, 0) + -(-size // _ROUNDING) * _ROUNDING
    for device, size in needed.items():
        if size <= torch.cuda.mem_get_info(device)[0]:
            torch.empty(size, dtype=torch.uint8, device=device)


def _replace_storage(tensors: list[torch.Tensor]) -> None:
    import torch

    old = tensors[0].untyped_storage()
    new = torch.UntypedStorage(old.nbytes(), device=old.device)
    new.copy_(old)
    with torch.no_grad():
        for tensor in tensors:
            view = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            tensor.data = view.set_(new, tensor.storage_offset(), tensor.size(), tensor.stride())
