# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that a program calls to learn if its training fits."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtrace._estimate.answer import DoesNotFit, Estimate

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer


def estimate(
    model: "Module",
    optimizer: "Optimizer | None" = None,
    example_inputs: object = (),
    *,
    card: str | None = None,
    loss: "Callable[..., Tensor] | None" = None,
    steps: int = 2,
) -> Estimate:
    """Finds the memory that training `model` needs, by making its steps on a simulated card in another process.

    This process and its GPU are not touched: `model` and `optimizer` are described without their weights. A model that
    is on no card is moved to card 0. `example_inputs` are the model's inputs: a dict, a tuple, or one tensor. `loss`
    computes the loss from the model's output; by default that is the output's `loss`, or the mean of the (first)
    output. Called inside torch.autocast, the steps also run in it. `card` is a value for `memtrace run --card`
    ("24GiB", "rtx-4090"); by default the cards of this process with what others hold on them now. At least `steps`
    steps are made, until the peak settles. Without an optimizer, a model in training mode runs forward and backward,
    one in evaluation mode forward only.

    Raises ValueError if `card` describes no card or `steps` is below 1, RuntimeError if the model cannot be described
    or the step fails by itself. Takes some seconds. Thread rule: any thread that does not train.
    """
    from memtrace._estimate import experiment
    from memtrace._estimate.description import Job

    if steps < 1:
        raise ValueError(f"memtrace.estimate: steps must be 1 or more, not {steps}")
    args, kwargs = inputs_of_call(example_inputs)
    job = Job(model, optimizer, args, kwargs, loss, autocast=_autocast())
    return experiment.run(job, card, steps)


def check_fit(
    model: "Module",
    optimizer: "Optimizer | None",
    example_inputs: object,
    card: str | None = None,
    *,
    loss: "Callable[..., Tensor] | None" = None,
    steps: int = 2,
) -> Estimate:
    """Asserts that training `model` fits `card`; arguments and errors are those of `estimate`.

    If it does not, raises DoesNotFit, an AssertionError that says where memory runs out and by how much.
    """
    found = estimate(model, optimizer, example_inputs, card=card, loss=loss, steps=steps)
    if not found.fits:
        raise DoesNotFit(found)
    return found


def _autocast() -> "torch.dtype | None":
    import torch

    return torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else None


def inputs_of_call(example_inputs: object) -> tuple[tuple[object, ...], dict[str, object]]:
    """Returns positional and named arguments: a mapping is named ones, a sequence positional ones."""
    if hasattr(example_inputs, "keys"):
        return (), {str(name): example_inputs[name] for name in example_inputs.keys()}  # type: ignore[index]  # noqa: SIM118  # BatchEncoding
    if isinstance(example_inputs, (tuple, list)):
        return tuple(example_inputs), {}
    return (example_inputs,), {}
