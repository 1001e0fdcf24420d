# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Liger's kernels for models of transformers: their cross entropy never holds all logits at once.

A Trainer puts them into its model if use_liger_kernel is True. Other programs' models get them before their first
training forward.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._change import Change
from memtrace._changes._living_modules import transformers_models
from memtrace._changes._outermost_calls import before_training
from memtrace._changes._program_line import program_line
from memtrace._patching import training_arguments
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import TrainingArguments

_PACKAGE = "liger_kernel"
_OPTION = "use_liger_kernel"
_TABLE = "MODEL_TYPE_TO_APPLY_LIGER_FN"


def watch(torch: ModuleType, session: Session, change: Change) -> None:
    """Applies to transformers' TrainingArguments that are made from now on, and to models without a Trainer.

    A place is a model for which Liger has kernels and that does not have them.
    """
    liger = _Liger(change)
    training_arguments.watch(before=liger.set_option)
    before_training(torch, session, liger.see)


class _Liger:
    def __init__(self, change: Change) -> None:
        self._change = change
        self._line = ""  # where TrainingArguments were made
        self._seen: IdentityMap[Module, bool] = IdentityMap()

    def set_option(self, arguments: TrainingArguments) -> None:
        if getattr(arguments, _OPTION, None) is False:
            self._line = self._line or program_line()
            if not self._change.only_looks:
                arguments.use_liger_kernel = True

    def see(self, root: Module) -> None:
        """Looks at the models of a module that is about to train."""
        if self._seen.get(root):
            return
        self._seen.set(root, True)
        for path, model in transformers_models(root):
            has_kernels = _has_kernels(model)
            if self._change.only_looks:
                self._change.found(not has_kernels and _is_known(model), type(model).__name__, self._line or path)
                continue
            if not has_kernels and not self._line and _is_known(model):
                importlib.import_module("liger_kernel.transformers")._apply_liger_kernel_to_instance(model=model)
                has_kernels = _has_kernels(model)
            if has_kernels:
                self._change.found_and_made(type(model).__name__, self._line or path)


def _has_kernels(model: Module) -> bool:
    return any(str(getattr(part.forward, "__module__", "")).startswith(_PACKAGE) for part in model.modules())


def _is_known(model: Module) -> bool:
    return getattr(getattr(model, "config", None), "model_type", None) in _model_types()


@functools.cache
def _model_types() -> frozenset[str]:
    """Returns the types of models that Liger knows, read from its source: its import takes seconds."""
    package = importlib.util.find_spec(_PACKAGE)
    for folder in (package.submodule_search_locations or []) if package is not None else []:
        file = Path(folder, "transformers", "monkey_patch.py")
        if file.is_file():
            return frozenset(_keys_of_table(ast.parse(file.read_bytes())))
    return frozenset()


def _keys_of_table(source: ast.Module) -> Iterator[str]:
    for node in source.body:
        targets = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
        if _TABLE in targets and isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            yield from (str(key.value) for key in node.value.keys if isinstance(key, ast.Constant))
