# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Calls with gradients on of models that nothing trains: autograd keeps their graph for nobody."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import PASSES_UNTRAINED
from memtrace._process.graphs import is_leaf
from memtrace._process.session import Session
from memtrace._program.users_frames import innermost_users_frame

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

_DEPTH = 3  # levels of containers among a call's arguments


class UntrainedPasses:
    """Annotates `passes.untrained` where such a call begins and where it ends. Thread rule: any thread."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        """Starts without calls."""
        self._torch = torch
        self._session = session

    def began(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
        """True if the call of an outermost module is one; states it in the trace, and `ended` must follow."""
        if module.training is not False or not self._is_untrained(module, args, kwargs):
            return False
        frame = innermost_users_frame(sys._getframe())
        if frame is None:
            return False
        place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        self._session.core.annotate(PASSES_UNTRAINED, place)
        return True

    def ended(self) -> None:
        """Notes that the call is over."""
        self._session.core.annotate(PASSES_UNTRAINED, "")

    def _is_untrained(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
        """True if the graph only leads to gradients of its parameters, and no optimizer has any of them.

        There must be an optimizer of other parameters, which shows what the program trains. Models with hooks do not
        count, because a hook may bring in a trained tensor.
        """
        stepped = {id(parameter) for parameter in self._stepped()}
        parameters = list(module.parameters())
        return (
            bool(stepped)
            and any(parameter.requires_grad for parameter in parameters)
            and not any(self._may_be_trained(parameter, stepped) for parameter in parameters)
            and not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
            and not any(tensor.requires_grad for tensor in self._tensors((args, kwargs), _DEPTH))
        )

    @staticmethod
    def _may_be_trained(parameter: Tensor, stepped: set[int]) -> bool:
        return id(parameter) in stepped or not is_leaf(parameter) or parameter.grad is not None

    def _stepped(self) -> Iterator[Tensor]:
        for optimizer, _ in self._session.optimizers.items():
            for group in optimizer.param_groups:
                yield from group["params"]

    def _tensors(self, value: object, depth: int) -> Iterator[Tensor]:
        if isinstance(value, self._torch.Tensor):
            yield value
        elif depth > 0 and isinstance(value, dict):
            yield from itertools.chain.from_iterable(self._tensors(part, depth - 1) for part in value.values())
        elif depth > 0 and isinstance(value, (list, tuple)):
            yield from itertools.chain.from_iterable(self._tensors(part, depth - 1) for part in value)
