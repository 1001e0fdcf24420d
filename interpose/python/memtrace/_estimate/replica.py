# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m memtrace._estimate.replica FILE STEPS [ROWS]`: makes the steps that another process described.

With ROWS, each batch has as many rows, which all are its first.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, overload

import memtrace
from memtrace._estimate import description
from memtrace._estimate.description import Job

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def main(file: str, steps: str, rows: str = "") -> None:
    """Reads the description and makes that many steps; runs out of memory like the program itself."""
    with Path(file).open("rb") as opened:
        job = description.read(opened)
    device = next((tensor.device for tensor in job.model.parameters() if tensor.is_cuda), "cuda:0")
    if rows:
        batch = next((tensor.shape[0] for tensor in _tensors((job.args, job.kwargs)) if tensor.dim() > 0), 0)
        job.args, job.kwargs = _with_rows(job.args, batch, int(rows)), _with_rows(job.kwargs, batch, int(rows))
        _forget_freed_blocks()  # in which the batch with other rows was
    job.args, job.kwargs = _on(device, job.args), _on(device, job.kwargs)
    for _ in range(int(steps)):
        _step(job)


def _step(job: Job) -> None:
    import torch

    if job.optimizer is None and not job.model.training:
        with torch.no_grad():
            _forward(job)
    else:
        _train(job)
    if job.optimizer is None:
        memtrace.step()  # nothing else says that the step is over


def _train(job: Job) -> None:
    clear = (job.optimizer or job.model).zero_grad
    for number in range(job.passes):
        loss = _loss(job, _forward(job))
        if job.keeps_gradients and number == 0:
            clear()
        loss.backward()
    if job.optimizer is not None:
        job.optimizer.step()
    if not job.keeps_gradients:
        clear()


def _forward(job: Job) -> object:
    import torch

    called = getattr(job.model, job.method) if job.method else job.model
    mixed = torch.autocast("cuda", job.autocast) if job.autocast is not None else contextlib.nullcontext()
    with mixed:
        return called(*job.args, **job.kwargs)


def _loss(job: Job, outputs: object) -> Tensor:
    if job.loss is not None:
        return job.loss(outputs)
    found = outputs["loss"] if isinstance(outputs, dict) and "loss" in outputs else getattr(outputs, "loss", None)
    if found is None:
        found = outputs[0] if isinstance(outputs, (tuple, list)) else outputs
    if not hasattr(found, "backward"):
        kind = type(outputs).__name__
        raise TypeError(
            f"the model returns a {kind} without a loss. Say what to minimise: estimate(..., loss=function)"
        )
    return found if found.dim() == 0 else found.float().mean()  # type: ignore[union-attr]  # a tensor


@overload
def _on(device: torch.device | str, value: tuple[object, ...]) -> tuple[object, ...]: ...
@overload
def _on(device: torch.device | str, value: dict[str, object]) -> dict[str, object]: ...
@overload
def _on(device: torch.device | str, value: object) -> object: ...
def _on(device: torch.device | str, value: object) -> object:
    if hasattr(value, "to"):
        return value.to(device)
    if isinstance(value, dict):
        return {name: _on(device, item) for name, item in value.items()}
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(_on(device, item) for item in value)
    return value


def _forget_freed_blocks() -> None:
    import torch

    torch.cuda.empty_cache()


def _tensors(value: object) -> Iterator[Tensor]:
    if hasattr(value, "dim") and hasattr(value, "expand"):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ():
        yield from _tensors(part)


@overload
def _with_rows(value: tuple[object, ...], batch: int, rows: int) -> tuple[object, ...]: ...
@overload
def _with_rows(value: dict[str, object], batch: int, rows: int) -> dict[str, object]: ...
@overload
def _with_rows(value: object, batch: int, rows: int) -> object: ...
def _with_rows(value: object, batch: int, rows: int) -> object:
    """Returns the value with that many rows, in the host, in each tensor that has `batch` of them now."""
    if hasattr(value, "dim") and hasattr(value, "narrow") and hasattr(value, "shape"):
        is_batch = value.dim() > 0 and value.shape[0] == batch and batch > 0
        return value.narrow(0, 0, 1).cpu().expand(rows, *value.shape[1:]).contiguous() if is_batch else value
    if isinstance(value, dict):
        return {name: _with_rows(item, batch, rows) for name, item in value.items()}
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(_with_rows(item, batch, rows) for item in value)
    return value


if __name__ == "__main__":
    main(*sys.argv[1:])
