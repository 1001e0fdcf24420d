# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a model of diffusers from its config.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtrace._estimate import placement
from memtrace._estimate.config_folder import ConfigFolder
from memtrace._estimate.options import DTYPES, Options
from memtrace._estimate.problem import ProblemError, first_line, package

if TYPE_CHECKING:
    from torch.nn import Module


def build(folder: ConfigFolder, options: Options) -> Module:
    """Builds the class that `_class_name` names, without memory. Raises ProblemError if that fails."""
    import torch

    diffusers = package("diffusers", str(folder.file))
    name = folder.values["_class_name"]
    model_class = getattr(diffusers, str(name), None)
    if not hasattr(model_class, "forward"):
        raise ProblemError(f"{folder.file}: diffusers {diffusers.__version__} has no model {name!r}.")
    dtype = getattr(torch, DTYPES[options.dtype or "fp32"])
    try:
        return placement.build(lambda: model_class.from_config(folder.values), dtype)  # type: ignore[union-attr]  # a model
    except Exception as error:
        raise ProblemError(f"{folder.file}: {name} cannot be built from this config: {first_line(error)}") from None
