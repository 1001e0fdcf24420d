# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""LoRA by peft: trains small adapters in place of the model that the optimizer was made for."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memtrace._changes._change import Change
from memtrace._changes._living_modules import roots, transformers_models
from memtrace._changes._optimizer_arguments import Arguments, tensors
from memtrace._patching import patches
from memtrace._patching.library_parts import imported_part
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module, Parameter
    from torch.optim import Optimizer
    from torch.optim.optimizer import ParamsT

_RANK = 16


def watch(torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from the next optimizer on; the change's value is the rank."""
    rank = int(change.value) if change.value.isdecimal() else _RANK
    lora = _Lora(torch, change, rank)
    optimizer_class = torch.optim.Optimizer
    original = optimizer_class.__init__

    @functools.wraps(original)
    def construct(optimizer: Optimizer, params: ParamsT, *args: object, **kwargs: object) -> None:
        original(optimizer, lora.replacement_for(params), *args, **kwargs)

    patches.put(
        optimizer_class,
        "__init__",
        construct,
        "torch.optim.Optimizer.__init__: trains adapters instead, for the change lora",
    )


class _Lora:
    def __init__(self, torch: ModuleType, change: Change, rank: int) -> None:
        self._torch = torch
        self._change = change
        self._rank = rank
        # The adapters of each model by name; none if peft could not add any.
        self._adapters: IdentityMap[Module, dict[str, Parameter]] = IdentityMap()

    def replacement_for(self, params: ParamsT) -> ParamsT:
        """Returns the parameters for the optimizer to step instead, in the same groups and form."""
        arguments: Arguments = {"params": params}
        try:
            asked = {id(tensor) for tensor in tensors(self._torch, arguments)}
        except (TypeError, KeyError, IndexError) as error:  # torch itself raises it with a better sentence
            raise_if_from_outside(error)
            return arguments["params"]
        for model in self._models(asked):
            adapters = self._adapters.get(model)
            if adapters is None:
                adapters = {} if self._only_notes(model) else self._adapt(model)
                self._adapters.set(model, adapters)
                self._change.found(bool(adapters), type(model).__name__, next(iter(adapters), ""))
                self._change.made(bool(adapters))
            if adapters:
                self._replace(arguments["params"], model, adapters)
        return arguments["params"]

    def _only_notes(self, model: Module) -> bool:
        """Counts a model if the change is not to be made."""
        self._change.found(self._change.only_looks and self._can_adapt(model), type(model).__name__)
        return self._change.only_looks

    def _can_adapt(self, model: Module) -> bool:
        layer = imported_part("peft.tuners.tuners_utils", "BaseTunerLayer")
        if layer is None:
            return False
        plain = all(type(parameter) is self._torch.nn.Parameter for parameter in model.parameters())
        is_spread = isinstance(model, self._torch.nn.parallel.DistributedDataParallel)
        return plain and not is_spread and not any(isinstance(part, layer.original) for part in model.modules())

    def _models(self, asked: set[int]) -> Iterator[Module]:
        """Yields the outermost models of transformers with such parameters, and other outermost modules."""
        for root in roots(self._torch):
            if not asked.isdisjoint(map(id, root.parameters())):
                models = [model for _, model in transformers_models(root)] or [root]
                yield from (model for model in models if not asked.isdisjoint(map(id, model.parameters())))

    def _adapt(self, model: Module) -> dict[str, Parameter]:
        if not self._can_adapt(model):
            return {}
        peft = importlib.import_module("peft")
        before = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
        for targets in (None, "all-linear"):  # peft's own choice for this architecture, else all
            try:
                peft.get_peft_model(model, peft.LoraConfig(r=self._rank, lora_alpha=self._rank, target_modules=targets))
            except self._torch.OutOfMemoryError:
                raise
            except Exception as error:  # peft does not know the architecture; no linear layers
                raise_if_from_outside(error)
                for parameter, is_trained in before:
                    parameter.requires_grad_(is_trained)
            else:
                return {name: p for name, p in model.named_parameters() if p.requires_grad}
        return {}

    # Parameters are tensors, pairs with a name, or groups of either; the first one, or each group, shows the form.
    def _replace(self, params: list[Any], model: Module, adapters: dict[str, Parameter]) -> None:
        """Puts the adapters in the place of the first of the model's parameters; keeps groups that become empty."""
        frozen = {id(parameter) for parameter in model.parameters()}
        is_put = False
        groups = [entry for entry in params if isinstance(entry, dict)]
        for group in groups:
            if isinstance(group["params"], self._torch.Tensor):
                group["params"] = [group["params"]]
        for entries in [group["params"] for group in groups] or [params]:
            named = bool(entries) and isinstance(entries[0], tuple)
            kept = [entry for entry in entries if id(entry[1] if named else entry) not in frozen]
            if len(kept) < len(entries) and not is_put:
                is_put = True
                kept += adapters.items() if named else adapters.values()
            entries[:] = kept
