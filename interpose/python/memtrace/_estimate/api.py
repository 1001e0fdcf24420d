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
    """Finds the memory that training `model` needs, by making steps on a simulated card in another process.

    It takes some seconds. This process allocates nothing on its GPU: `model` and `optimizer` are described to the other
    process without their weights. If the call is inside `torch.autocast("cuda")`, so are the steps.

    Thread rule: any thread, while no thread changes the model or the optimizer.

    Args:
        model: The module to train. A model that is on no card is moved to card 0 of the other process. It must not be
            compiled or wrapped for several cards; give the model inside.
        optimizer: The optimizer that is stepped and whose gradients are cleared after each step. Without one, a model
            in training mode runs forward and backward, and one in evaluation mode only forward.
        example_inputs: A batch: a dict of the arguments that the model is called with by name, a tuple or list of
            those by position, or one argument. Tensors must have the shapes and types of the training; their values
            matter only if they steer the model, such as masks.
        card: The cards, as for `memtrace run --card`, such as "24GiB" or "rtx-4090". By default those of this process,
            with the memory that other processes hold on them now.
        loss: A function that gets the model's output and returns the loss, a tensor with one element. By default the
            loss is the output's `loss`, else the output or its first element, averaged over all its elements.
        steps: The least number of steps, at least 1. Further steps follow until the peak stops rising, but at most 8
            in all, or `steps` if that is more. What only a later step would need is not found.

    Returns:
        The memory that is needed, in bytes, and the request that failed if it does not fit.

    Raises:
        ValueError: If `card` does not describe a card, or `steps` is below 1.
        RuntimeError: If the model or an argument cannot be sent to another process, if a step fails for another reason
            than a lack of memory, if the peak rises in every step so that the answer is not known, if `card` is not
            given and this process has no card, or if memtrace's program is not installed.

    Example:
        >>> import memtrace, torch
        >>> model = torch.nn.Linear(4096, 4096)
        >>> optimizer = torch.optim.AdamW(model.parameters())
        >>> found = memtrace.estimate(model, optimizer, torch.zeros(8, 4096), card="768MiB")
        >>> found.fits
        False
        >>> found.parts["parameters"]  # bytes: a matrix and a bias of 4-byte numbers
        67125248
        >>> print(found)  # doctest: +ELLIPSIS
        The model runs out of memory in optimizer.step() of step 1: it needs ... more than the ... that is left. ...
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
    """Asserts that training `model` fits a card. It is `estimate` for a test.

    Thread rule: that of `estimate`.

    Args:
        model: As for `estimate`.
        optimizer: As for `estimate`; None if there is none.
        example_inputs: As for `estimate`.
        card: As for `estimate`.
        loss: As for `estimate`.
        steps: As for `estimate`.

    Returns:
        The estimate, if the training fits.

    Raises:
        DoesNotFit: If the training does not fit. Its message says where memory runs out and by how much.
        ValueError: As for `estimate`.
        RuntimeError: As for `estimate`.

    Example:
        >>> import memtrace, torch
        >>> model = torch.nn.Linear(4096, 4096)
        >>> optimizer = torch.optim.AdamW(model.parameters())
        >>> memtrace.check_fit(model, optimizer, torch.zeros(8, 4096), card="768MiB")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        memtrace._estimate.answer.DoesNotFit: The model runs out of memory in optimizer.step() of step 1: it needs ...
    """
    found = estimate(model, optimizer, example_inputs, card=card, loss=loss, steps=steps)
    if not found.fits:
        raise DoesNotFit(found)
    return found


def largest_batch(
    model: "Module",
    optimizer: "Optimizer | None",
    example_inputs: object,
    card: str | None = None,
    *,
    loss: "Callable[..., Tensor] | None" = None,
    steps: int = 2,
) -> int:
    """Finds the largest batch with which training `model` fits, by making steps on a simulated card.

    It replaces loops that halve a batch size until no error comes. It takes a few minutes at most, in another process;
    this process allocates nothing on its GPU. The batch has the rows of `example_inputs`, of which each has the same
    size. `memtrace fit --largest` does the same for an option of a whole script, with its data and its evaluation.

    Thread rule: that of `estimate`.

    Args:
        model: As for `estimate`.
        optimizer: As for `estimate`; None if there is none.
        example_inputs: As for `estimate`, with any number of rows: the first size of the first tensor. Each tensor with
            this first size gets as many rows as are tried, copies of its first; other arguments stay.
        card: As for `estimate`.
        loss: As for `estimate`.
        steps: As for `estimate`.

    Returns:
        The largest number of rows that fits. One more was tried and did not fit, unless the memory does not grow with
        the rows.

    Raises:
        DoesNotFit: If one row does not fit.
        ValueError: As for `estimate`.
        RuntimeError: As for `estimate`.

    Example:
        >>> import memtrace, torch
        >>> model = torch.nn.Linear(1024, 1024)
        >>> optimizer = torch.optim.SGD(model.parameters())
        >>> example = torch.zeros(1, 16384, 1024)  # a row has 64 MiB, and its output as much
        >>> memtrace.largest_batch(model, optimizer, example, card="1100MiB")
        3
    """
    from memtrace._estimate import experiment
    from memtrace._estimate.description import Job

    if steps < 1:
        raise ValueError(f"memtrace.largest_batch: steps must be 1 or more, not {steps}")
    args, kwargs = inputs_of_call(example_inputs)
    job = Job(model, optimizer, args, kwargs, loss, autocast=_autocast())
    return experiment.largest_batch(job, card, steps)


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
