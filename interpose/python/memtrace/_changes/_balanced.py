# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Spreads models of transformers over all cards by accelerate: `device_map="balanced"`."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._change import Change
from memtrace._changes._outermost_calls import before_training
from memtrace._changes._program_line import program_line
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.library_parts import imported_part, part_of
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel, Trainer

_OPTION = "device_map"
_OF_ACCELERATE = (  # used to spread a model
    "dispatch_model",
    "infer_auto_device_map",
    "utils.get_balanced_memory",
    "utils.set_module_tensor_to_device",
)


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Starts at the import of transformers' models. Needs a second card, and only one rank."""
    is_alone = os.environ.get("WORLD_SIZE", "1") == "1"
    if change.only_looks and is_alone:
        _count(torch, session, change)
    elif is_alone and torch.cuda.device_count() > 1:
        spreading = _Spreading(torch, change)
        when_imported("transformers.modeling_utils", spreading.watch)
        when_imported("transformers.trainer", spreading.watch_trainer)


def _count(torch: ModuleType, session: Session, change: Change) -> None:
    """Counts the models of transformers that are trained, with any number of cards."""
    seen: IdentityMap[Module, bool] = IdentityMap()

    def count(root: Module) -> None:
        if hasattr(root, "_no_split_modules") and seen.get(root) is None:
            seen.set(root, True)
            change.found(1, type(root).__name__)

    before_training(torch, session, count)


class _Spreading:
    def __init__(self, torch: ModuleType, change: Change) -> None:
        self._torch = torch
        self._change = change

    def watch(self, modeling: ModuleType) -> None:
        """Adds the option to `from_pretrained`; spreads other models when they are moved to a card as a whole."""
        if loading := part_of(modeling, "PreTrainedModel.from_pretrained"):
            patches.put(
                loading.owner,
                "from_pretrained",
                classmethod(self._loading(loading.original.__func__)),
                "transformers.PreTrainedModel.from_pretrained: gives device_map, for the change balanced",
            )
        for name, parse in (
            ("to", self._card_of_to),
            ("cuda", lambda *_args, **_kwargs: (True, None)),
            ("to_empty", self._card_of_to_empty),
        ):
            if moving := part_of(modeling, f"PreTrainedModel.{name}"):
                patches.put(
                    moving.owner,
                    name,
                    self._moving(moving.original, parse),
                    "transformers.PreTrainedModel.to: spreads the model over all cards, for the change balanced",
                )

    def watch_trainer(self, module: ModuleType) -> None:
        """Spreads the model before Trainer sees it: if it were on one card, Trainer would put a copy on each card."""
        found = part_of(module, "Trainer.__init__")
        if found is None:
            return
        original: Callable[..., None] = found.original

        @functools.wraps(original)
        def construct(trainer: Trainer, model: Module | None = None, *args: object, **kwargs: object) -> None:
            if hasattr(model, "_no_split_modules") and not _is_spread(model):
                self._spread(model, None)
            original(trainer, model, *args, **kwargs)

        patches.put(
            found.owner,
            "__init__",
            construct,
            "transformers.Trainer.__init__: spreads the model over all cards, for the change balanced",
        )

    def _loading(self, original: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(original)
        def from_pretrained(cls: type[PreTrainedModel], *args: object, **kwargs: object) -> object:
            if kwargs.get(_OPTION) is not None:
                return original(cls, *args, **kwargs)
            loaded = original(cls, *args, **{**kwargs, _OPTION: "balanced"})
            # With `output_loading_info` it returns more than the model.
            model = loaded[0] if isinstance(loaded, tuple) else loaded
            self._change.found(1, type(model).__name__, program_line())
            self._change.made(_is_spread(model))
            return loaded

        return from_pretrained

    def _card_of_to(self, *args: object, **kwargs: object) -> tuple[bool, torch.dtype | None]:
        device, dtype, *_ = self._torch._C._nn._parse_to(*args, **kwargs)
        return device is not None and device.type == "cuda", dtype

    def _card_of_to_empty(
        self, *, device: torch.device | str | None, **_options: object
    ) -> tuple[bool, torch.dtype | None]:
        return device is not None and self._torch.device(device).type == "cuda", None

    def _moving(
        self, original: Callable[..., object], parse: Callable[..., tuple[bool, torch.dtype | None]]
    ) -> Callable[..., object]:
        """`parse` returns if its arguments name a card, and the dtype."""

        @functools.wraps(original)
        def move(model: Module, *args: object, **kwargs: object) -> object:
            try:
                to_card, dtype = parse(*args, **kwargs)
            except (TypeError, RuntimeError) as error:  # torch itself raises it with a better sentence
                raise_if_from_outside(error)
                to_card, dtype = False, None
            if not to_card or not (_is_spread(model) or self._spread(model, dtype)):
                return original(model, *args, **kwargs)
            return model.to(dtype) if dtype is not None else model

        return move

    def _spread(self, model: Module, dtype: torch.dtype | None) -> bool:
        """Spreads the model if the cards have room, and tells if they had. Keeps transformers' blocks together."""
        tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        if any(tensor.is_cuda for tensor in tensors.values()) or getattr(model, "hf_quantizer", None) is not None:
            return False
        if not all(imported_part("accelerate", name) for name in _OF_ACCELERATE):
            return False
        if dtype is not None:
            model.to(dtype)
        accelerate, modeling = importlib.import_module("accelerate"), importlib.import_module("accelerate.utils")
        whole = {"no_split_module_classes": list(getattr(model, "_no_split_modules", None) or [])}
        memory = modeling.get_balanced_memory(model, **whole)
        cards = accelerate.infer_auto_device_map(model, max_memory=memory, **whole)
        if len(set(cards.values())) < 2 or any(isinstance(card, str) for card in cards.values()):
            return False
        self._make_empty(model, {name: tensor for name, tensor in tensors.items() if tensor.is_meta}, cards)
        accelerate.dispatch_model(model, cards, skip_keys=getattr(model, "_skip_keys_device_placement", None))
        self._change.found(1, type(model).__name__, program_line())
        self._change.made()
        return True

    def _make_empty(self, model: Module, tensors: dict[str, Tensor], cards: dict[str, int]) -> None:
        place = importlib.import_module("accelerate.utils").set_module_tensor_to_device
        for name, tensor in tensors.items():
            card = next(cards[part] for part in _paths(name) if part in cards)
            place(model, name, card, value=self._torch.empty_like(tensor, device=f"cuda:{card}"))
        if tensors:
            model.tie_weights()


def _is_spread(model: Module) -> bool:
    cards = (getattr(model, "hf_device_map", None) or {}).values()
    return len(set(cards)) > 1 and not any(str(card) in ("cpu", "disk") for card in cards)


def _paths(name: str) -> list[str]:
    """Returns a.b.c, a.b, a and "", the name of the whole."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), -1, -1)]
