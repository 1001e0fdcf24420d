# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sets `mean_resizing=False` for `resize_token_embeddings`, which otherwise computes a covariance in fp32."""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._change import Change
from memtrace._changes._program_line import program_line
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.library_parts import part_of
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import PreTrainedModel

_METHOD = "resize_token_embeddings"
_OPTION = "mean_resizing"


def watch(_torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from the import of transformers' models, unless the caller passes False."""
    when_imported("transformers.modeling_utils", lambda module: _watch_models(module, change))


def _watch_models(modeling: ModuleType, change: Change) -> None:
    """Watches the base's method and overrides of it; an override passes on the option, which is False by then."""
    found = part_of(modeling, f"PreTrainedModel.{_METHOD}")
    if found is None:
        return
    base = found.owner
    _watch_class(base, change)
    own = vars(base).get("__init_subclass__")  # older releases have none

    def init_subclass(cls: type[PreTrainedModel], /, **kwargs: object) -> None:
        if own is None:
            super(base, cls).__init_subclass__(**kwargs)
        else:
            own.__func__(cls, **kwargs)
        _watch_class(cls, change)

    patches.put(
        base,
        "__init_subclass__",
        classmethod(init_subclass),
        "transformers.PreTrainedModel.__init_subclass__: watches overrides of a method, for the change mean_resizing",
    )


def _watch_class(cls: type[PreTrainedModel], change: Change) -> None:
    original = vars(cls).get(_METHOD)
    if original is None or _OPTION not in inspect.signature(original).parameters:
        return
    signature = inspect.signature(original)

    @functools.wraps(original)
    def resize(model: Module, *args: object, **kwargs: object) -> object:
        try:
            bound = signature.bind(model, *args, **kwargs)
        except TypeError as error:  # transformers itself raises it with a better sentence
            raise_if_from_outside(error)
            return original(model, *args, **kwargs)
        if bound.arguments.get(_OPTION, True) is False:
            return original(model, *args, **kwargs)
        if not change.only_looks:
            bound.arguments[_OPTION] = False
        before = _rows(model)
        embeddings = original(*bound.args, **bound.kwargs)
        if _rows(model) > before:
            change.found_and_made(type(model).__name__, program_line())
        return embeddings

    patches.put(
        cls,
        _METHOD,
        resize,
        "transformers.PreTrainedModel.resize_token_embeddings: gives an argument, for the change mean_resizing",
    )


def _rows(model: Module) -> int:
    return int(model.get_input_embeddings().weight.shape[0])
