# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Describes a step of a running program so that another process can make it on simulated cards."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, TYPE_CHECKING

from memtrace._estimate import by_value
from memtrace._estimate.tensors import TensorReductions
from memtrace._patching.signal_exceptions import raise_if_from_outside

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer

_SEVERAL_CARDS = ("DistributedDataParallel", "DataParallel", "FullyShardedDataParallel")
# A module's references to its parts; each part is checked by itself.
_PARTS = ("_modules", "_parameters", "_buffers")


@dataclass
class Job:
    """The parts of a step."""

    model: Module
    optimizer: Optimizer | None = None
    args: tuple[object, ...] = ()
    kwargs: dict[str, object] = field(default_factory=dict)
    loss: Callable[..., Tensor] | None = None
    method: str = ""  # a method of the model; "": the model itself is called
    passes: int = 1  # forward and backward passes before the optimizer steps
    autocast: torch.dtype | None = None  # a dtype, or None
    keeps_gradients: bool = False  # until the next step's forward ends, as Lightning does


class _Pickler(pickle.Pickler):
    def __init__(self, file: IO[bytes], moves_to: str | None) -> None:
        super().__init__(file, protocol=5)
        self._tensors = TensorReductions(moves_to)

    def reducer_override(self, value: object) -> by_value.Reduction:  # type: ignore[override]  # no typeshed has six
        reduction = self._tensors.reduction(value)
        return by_value.reduction(value) if reduction is NotImplemented else reduction


def write(job: Job, file: IO[bytes]) -> None:
    """Writes `job`. Raises RuntimeError if it holds an object that cannot be pickled for another process."""
    _refuse_wrappers(job.model)
    moves_to = None if _is_on_card(job.model) else "cuda:0"
    text = BytesIO()
    try:
        _Pickler(text, moves_to).dump(job)
    except Exception as error:  # raised by __reduce__ of any object in the model
        raise_if_from_outside(error)
        where = next(_culprits(job), "one of its arguments")
        raise RuntimeError(
            f"memtrace.estimate: {where} cannot be sent to the process that tries the step "
            f"({type(error).__name__}: {error}). Leave it out, or run the script under memtrace fit."
        ) from error
    pickle.dump(sys.path, file)
    file.write(text.getvalue())


def read(file: IO[bytes]) -> Job:
    """Makes the job in this process, on its cards. Modules are found as in the process that wrote it."""
    paths: list[str] = pickle.load(file)
    sys.path[:] = [*paths, *(path for path in sys.path if path not in paths)]
    job: Job = pickle.load(file)
    return job


def _is_on_card(model: Module) -> bool:
    return any(tensor.is_cuda for tensor in (*model.parameters(), *model.buffers()))


def _refuse_wrappers(model: Module) -> None:
    name = type(model).__name__
    if name in _SEVERAL_CARDS:
        raise RuntimeError(f"memtrace.estimate: the model is a {name}. Give the model inside it (model.module).")
    if name == "OptimizedModule":
        raise RuntimeError(
            "memtrace.estimate: the model is compiled by torch.compile. Give the model inside it; it runs uncompiled."
        )


def _culprits(job: Job) -> Iterator[str]:
    """Yields the paths of attributes that cannot be pickled, then the other parts of the job."""
    for path, module in job.model.named_modules():
        for name, value in vars(module).items():
            if name not in _PARTS and not _can_be_written(value):
                yield f"the model's {path}.{name}" if path else f"the model's attribute {name}"
    for name in ("model", "optimizer", "args", "kwargs", "loss"):
        if not _can_be_written(getattr(job, name)):
            yield {"args": "example_inputs", "kwargs": "example_inputs"}.get(name, f"the {name}")


def _can_be_written(value: object) -> bool:
    try:
        _Pickler(BytesIO(), None).dump(value)
    except Exception as error:
        raise_if_from_outside(error)
        return False
    return True
