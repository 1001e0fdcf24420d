# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The bytes that training will need on each card: states, gradients and copies, from all living optimizers."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import (
    OPTIMIZER_CLASS_OF_ALL,
    OPTIMIZER_COPY_TO_MAKE,
    OPTIMIZER_OTHERS_WAIT,
    OPTIMIZER_SHARDED,
    OPTIMIZER_STATES_TO_MAKE,
    OPTIMIZER_TRAINED_BYTES,
    OPTIMIZER_TRAINED_ELEMENTS,
    PHASE_OPTIMIZER,
)
from memtrace._hooks.optimizer_facts import COPIES_SECOND_MOMENTS, ParameterGroup, class_name, local_part, uses_foreach
from memtrace._patching import patches
from memtrace._patching.quiet import quieter
from memtrace._process.session import Session

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.optim import Optimizer


def watch(torch: ModuleType, session: Session) -> None:
    """Annotates the need whenever everything is labelled, which is at an out-of-memory and at the end."""
    need = _TrainingNeed(torch, session)
    optimizer_class: type[Optimizer] = torch.optim.Optimizer
    original: Callable[..., None] = optimizer_class.__init__
    made = quieter(torch)(need.optimizer_made)

    @functools.wraps(original)
    def initialize(optimizer: Optimizer, *args: object, **kwargs: object) -> None:
        original(optimizer, *args, **kwargs)
        made(optimizer)

    patches.put(
        optimizer_class, "__init__", initialize, "torch.optim.Optimizer.__init__: notes what the optimizer will keep"
    )
    session.with_labels.append(need.annotate)


def states_of(name: str, group: ParameterGroup) -> int | None:
    """Returns how many states of its size an optimizer of torch keeps for each parameter; None if not known."""
    if name in COPIES_SECOND_MOMENTS:
        return 3 if group.get("amsgrad") else 2
    if name == "SGD":
        return 1 if group.get("momentum") else 0
    if name == "RMSprop":
        return 1 + bool(group.get("momentum")) + bool(group.get("centered"))
    return {"Adamax": 2, "Adadelta": 2, "Adagrad": 1}.get(name)


class _TrainingNeed:
    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session

    def optimizer_made(self, optimizer: Optimizer) -> None:
        """Notes this optimizer while it lives."""
        self._session.optimizers.set(optimizer, True)

    def annotate(self) -> None:
        """States bytes by card: of trained parameters, of states, and of the largest copy that an update makes."""
        trained: dict[int, dict[int, int]] = {}
        elements: dict[int, dict[int, int]] = {}
        classes = {class_name(optimizer) for optimizer, _ in self._session.optimizers.items()}
        states: Counter[int] = Counter()
        copies: Counter[int] = Counter()
        unknown: set[int] = set()
        waiting: set[int] = set()
        is_sharded = False
        for optimizer, _ in self._session.optimizers.items():
            name = class_name(optimizer)
            for group in optimizer.param_groups:
                kept = states_of(name, group)
                lists: Counter[tuple[int, torch.dtype]] = Counter()
                for parameter, part in self._trained(optimizer, group):
                    card = part.device.index
                    is_sharded |= part is not parameter
                    if self._waits_for_update(optimizer):
                        waiting.add(card)
                    trained.setdefault(card, {})[id(parameter)] = part.nbytes
                    elements.setdefault(card, {})[id(parameter)] = part.numel()
                    lists[card, part.dtype] += part.nbytes
                    if kept is None:
                        unknown.add(card)
                    else:
                        states[card] += kept * part.nbytes
                if name not in COPIES_SECOND_MOMENTS or group.get("fused"):
                    continue
                if not uses_foreach(self._torch, group):
                    self._add_temporaries(optimizer, group, copies)
                else:
                    for (card, _dtype), size in lists.items():
                        copies[card] = max(copies[card], size)
        annotate = self._session.core.annotate
        if is_sharded:
            annotate(OPTIMIZER_SHARDED, "1")
        if len(classes) == 1:
            annotate(OPTIMIZER_CLASS_OF_ALL, classes.pop())
        for card, sizes in trained.items():
            annotate(f"{OPTIMIZER_TRAINED_ELEMENTS}.{card}", str(sum(elements[card].values())))
            annotate(f"{OPTIMIZER_TRAINED_BYTES}.{card}", str(sum(sizes.values())))
            annotate(f"{OPTIMIZER_STATES_TO_MAKE}.{card}", "unknown" if card in unknown else str(states[card]))
            annotate(f"{OPTIMIZER_COPY_TO_MAKE}.{card}", str(copies[card]))
            annotate(f"{OPTIMIZER_OTHERS_WAIT}.{card}", str(int(card in waiting)))

    def _add_temporaries(self, optimizer: Optimizer, group: ParameterGroup, copies: Counter[int]) -> None:
        """Adds two copies of a parameter, for updates of one parameter at a time (torch/optim/adam.py, `denom`)."""
        for _, part in self._trained(optimizer, group):
            copies[part.device.index] = max(copies[part.device.index], 2 * part.nbytes)

    def _trained(self, optimizer: Optimizer, group: ParameterGroup) -> Iterator[tuple[Tensor, Tensor]]:
        """Yields each parameter that will be stepped, with its part on a card of this process."""
        will_step = self._rule_of(optimizer)
        for parameter in group["params"]:
            part = local_part(parameter)
            if part.is_cuda and will_step(parameter):
                yield parameter, part

    def _rule_of(self, optimizer: Optimizer) -> Callable[[Tensor], bool]:
        """Returns a rule for what an optimizer steps: parameters with gradients and, after an update, those it stepped.

        Before the first update all parameters that require gradients count, because later passes seldom reach others.
        """
        if self._session.phase == PHASE_OPTIMIZER and _has_gradients(optimizer):
            return lambda parameter: parameter.grad is not None
        if optimizer.state:
            return lambda parameter: parameter.grad is not None or parameter in optimizer.state
        return lambda parameter: bool(parameter.requires_grad)

    def _waits_for_update(self, optimizer: Optimizer) -> bool:
        """True while another optimizer updates, if this one has not and no pass for it has run."""
        return self._session.phase == PHASE_OPTIMIZER and not optimizer.state and not _has_gradients(optimizer)


def _has_gradients(optimizer: Optimizer) -> bool:
    return any(p.grad is not None for group in optimizer.param_groups for p in group["params"])
