# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes steps of a training that has no script."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import memtrace
from memtrace._estimate.problem import ProblemError, first_line

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer

_OWNER = "frozen_copy"


@dataclass(frozen=True)
class Training:
    """A model on the card with its inputs. Without an optimizer it only runs forward."""

    model: Module
    inputs: dict[str, object]
    optimizer: Optimizer | None = None
    frozen_copy: Module | None = None


def run(training: Training, steps: int) -> None:
    """Makes that many steps, like a plain training loop.

    Raises torch.OutOfMemoryError, or ProblemError if the model cannot be called like this.
    """
    import torch

    try:
        _run(training, steps)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # raised by the model
        name = type(training.model).__name__
        raise ProblemError(
            f"{name} fails with the inputs {', '.join(training.inputs)}: {first_line(error)}. "
            "Give it other shapes (--shape), or run your script under memtrace fit."
        ) from error


def _run(training: Training, steps: int) -> None:
    import torch

    for _ in range(steps):
        if training.optimizer is None:
            with torch.no_grad():
                training.model(**training.inputs)
            memtrace.step()  # nothing else says that the step is over
        else:
            _step(training)


def _step(training: Training) -> None:
    target = _target(training)
    outputs = training.model(**training.inputs)
    _loss(outputs, target).backward()
    training.optimizer.step()  # type: ignore[union-attr]  # it has one here
    training.optimizer.zero_grad()  # type: ignore[union-attr]


@contextlib.contextmanager
def as_frozen_copy() -> Iterator[None]:
    """Tags memory allocated inside as the frozen copy's."""
    with memtrace.tag(_OWNER):
        yield


def _target(training: Training) -> Tensor | None:
    import torch

    if training.frozen_copy is None:
        return None
    inputs = {name: value for name, value in training.inputs.items() if name not in ("labels", "return_loss")}
    with torch.no_grad(), as_frozen_copy():
        return _prediction(training.frozen_copy(**inputs))


def _loss(outputs: object, target: Tensor | None) -> Tensor:
    """Returns the model's own loss if it has one, plus the distance to `target`; without either, to noise."""
    import torch

    own = getattr(outputs, "loss", None)
    if target is None and own is not None:
        return own
    predicted = _prediction(outputs)
    if target is None:
        target = torch.randn_like(predicted)
    distance = torch.nn.functional.mse_loss(predicted.float(), target.float())
    return distance if own is None else own + distance


def _prediction(outputs: object) -> Tensor:
    """Returns the logits if there are any, else the first tensor of floats."""
    logits = getattr(outputs, "logits", None)
    return logits if hasattr(logits, "dim") else next(_tensors(outputs))


def _tensors(value: object) -> Iterator[Tensor]:
    if hasattr(value, "dim"):
        if value.dim() > 0 and value.is_floating_point():  # type: ignore[attr-defined]  # a tensor
            yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
