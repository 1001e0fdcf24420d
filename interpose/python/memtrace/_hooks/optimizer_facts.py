# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about the memory that an optimizer's next step needs, as far as its class determines it."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

from memtrace._core.vocabulary import (
    OPTIMIZER_CLASS,
    OPTIMIZER_COPY_BYTES,
    OPTIMIZER_ELEMENTS,
    OPTIMIZER_FOREACH,
    OPTIMIZER_STATE_BYTES,
)

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

# The foreach updates of these classes take the square root of a whole list of second moments at once, which needs one
# more copy of the stepped parameters for a moment (torch/optim/adam.py, _multi_tensor_adam: torch._foreach_sqrt).
COPIES_SECOND_MOMENTS = {"Adam", "AdamW", "NAdam", "RAdam"}


class ParameterGroup(TypedDict, total=False):
    """The options of an optimizer's parameter group that are read, with their names in torch.optim."""

    params: list[Tensor]
    amsgrad: bool
    centered: bool
    foreach: bool | None
    fused: bool | None
    momentum: float


def class_name(optimizer: Optimizer) -> str:
    """Returns the class's name if torch's own code updates ("AdamW"), else with the library ("bitsandbytes.AdamW").

    The rules for torch.optim do not apply to a class of another library, even one of the same name.
    """
    kind = type(optimizer)
    library = kind.step.__module__.partition(".")[0]
    return str(kind.__name__ if library == "torch" else f"{library}.{kind.__name__}")


def optimizer_facts(torch: ModuleType, optimizer: Optimizer) -> dict[str, str]:
    """Returns facts about a step: class, foreach ("1"/"0"), elements stepped, bytes of states and foreach copy."""
    name = class_name(optimizer)
    foreach = any(uses_foreach(torch, group) for group in optimizer.param_groups)
    facts = {OPTIMIZER_CLASS: name, OPTIMIZER_FOREACH: "1" if foreach else "0"}
    if name in COPIES_SECOND_MOMENTS:
        # Lists are made by parameter group, device and dtype, and each is freed before the next is made.
        lists: Counter[tuple[int, str, str]] = Counter()
        elements = 0
        for index, group in enumerate(optimizer.param_groups):
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.is_cuda:
                    part = local_part(parameter)
                    lists[index, str(part.device), str(part.dtype)] += part.nbytes
                    elements += part.numel()
        facts[OPTIMIZER_STATE_BYTES] = str(2 * sum(lists.values()))
        facts[OPTIMIZER_ELEMENTS] = str(elements)
        facts[OPTIMIZER_COPY_BYTES] = str(max(lists.values(), default=0) if foreach else 0)
    return facts


def local_part(parameter: Tensor) -> Tensor:
    """Returns the part on this process's card of a parameter that is spread over several (DTensor)."""
    part: Tensor = getattr(parameter, "_local_tensor", parameter)
    return part


def uses_foreach(torch: ModuleType, group: ParameterGroup) -> bool:
    """True if an update works on lists of tensors.

    torch.optim does so by default (`foreach` and `fused` not set) if all parameters are on a card.
    """
    if group.get("fused"):
        return False
    if group.get("foreach") is not None:
        return bool(group["foreach"])
    plain = (torch.Tensor, torch.nn.Parameter)
    return "foreach" in group and all(type(p) in plain and p.is_cuda for p in group["params"])
