# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m memtrace.estimate_program CONFIG_DIR`: a training of the model that a config describes.

`memtrace fit` runs it if there is no training script (docs/design/estimate.md). Nothing is fetched and no weights are
read: the model is built from its config and placed on the card unfilled. Exit codes: 2 for options that cannot be
right, 3 for a config that cannot be built, 5 if a library or the card is missing.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, overload

from memtrace._core.vocabulary import ESTIMATE_INPUTS, ESTIMATE_MODEL
from memtrace._estimate import (
    adapters,
    config_folder,
    diffusers_inputs,
    diffusers_model,
    optimizers,
    options,
    placement,
    training,
    transformers_inputs,
    transformers_model,
)
from memtrace._estimate.problem import ProblemError, first_line, package
from memtrace._process.session import current_session
from memtrace._text.messages import translated
from memtrace._text.say import EXIT_ENVIRONMENT

if TYPE_CHECKING:
    from torch.nn import Module


def main(arguments: list[str]) -> int:
    """Runs the training that the command line describes. Returns the exit code."""
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    asked = options.parse(arguments)
    try:
        work = _prepare(asked)
        _print_what_runs(asked, work)
        training.run(work, asked.steps)
    except ProblemError as problem:
        print(f"memtrace: {problem}", file=sys.stderr, flush=True)
        return problem.exit_code
    return 0


def _prepare(asked: options.Options) -> training.Training:
    folder = config_folder.read(asked.folder)
    torch = package("torch", "an estimate")
    if not torch.cuda.is_available():
        raise ProblemError("This process has no card. Run it under memtrace fit --card CARD.", EXIT_ENVIRONMENT)
    model = _placed(folder, asked)
    if asked.lora:
        model = adapters.add_lora(model, asked.lora, is_of_diffusers=folder.is_of_diffusers)
    if asked.checkpointing:
        _checkpoint(model, asked)
    model.train(asked.is_trained)
    inputs = _on_card((diffusers_inputs if folder.is_of_diffusers else transformers_inputs).make(_inner(model), asked))
    copy = None
    if asked.frozen_copy:
        with training.as_frozen_copy():
            copy = _placed(folder, asked).requires_grad_(False).eval()
    optimizer = optimizers.make(asked.optimizer, model) if asked.is_trained else None
    return training.Training(model, inputs, optimizer, copy)


def _placed(folder: config_folder.ConfigFolder, asked: options.Options) -> Module:
    model = (diffusers_model if folder.is_of_diffusers else transformers_model).build(folder, asked)
    placement.place(model, "cuda")
    return model


def _inner(model: Module) -> Module:
    """Returns the model itself, without peft's wrapper: its forward names the arguments."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _checkpoint(model: Module, asked: options.Options) -> None:
    enable = getattr(model, "gradient_checkpointing_enable", None) or getattr(
        model, "enable_gradient_checkpointing", None
    )
    try:
        if enable is None:
            raise ValueError("the model has no method that switches it on")
        enable()
    except ValueError as error:
        raise ProblemError(
            f"--checkpointing does not work with {type(_inner(model)).__name__}: {first_line(error)}"
        ) from None
    if asked.lora and hasattr(model, "enable_input_require_grads"):
        model.enable_input_require_grads()


@overload
def _on_card(value: dict[str, object]) -> dict[str, object]: ...
@overload
def _on_card(value: object) -> object: ...
def _on_card(value: object) -> object:
    if hasattr(value, "cuda"):
        return value.cuda()
    if isinstance(value, dict):
        return {name: _on_card(item) for name, item in value.items()}
    return tuple(_on_card(item) for item in value) if isinstance(value, tuple) else value


def _print_what_runs(asked: options.Options, work: training.Training) -> None:
    """Prints it on stdout and, in English, states it in the trace as `estimate.model` and `estimate.inputs`."""
    model = _inner(work.model)
    count = sum(parameter.numel() for parameter in model.parameters())
    name, dtype = type(model).__name__, str(model.dtype).removeprefix("torch.")
    inputs = ", ".join(f"{name} {_size(value)}" for name, value in work.inputs.items())
    print(translated("$0, $1 parameters, $2", name, f"{count:,}", dtype), inputs, sep="\n", flush=True)
    session = current_session()
    if session is not None:
        session.core.annotate(ESTIMATE_MODEL, f"{name}, {count:,} parameters, {dtype}")
        session.core.annotate(ESTIMATE_INPUTS, inputs)


def _size(value: object) -> str:
    if hasattr(value, "shape"):
        return "x".join(map(str, value.shape)) or "1"
    values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [str(value)]
    return "(" + ", ".join(item if isinstance(item, str) else _size(item) for item in values) + ")"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
