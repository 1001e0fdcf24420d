# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tells which tensors optimizers step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer


def on_group_added(torch: ModuleType, of: Callable[[list[Tensor]], object]) -> None:
    """Calls `of` with the tensors of every group that any optimizer gets from now on."""
    optimizer_class = torch.optim.Optimizer
    original = optimizer_class.add_param_group

    @functools.wraps(original)
    def add_param_group(optimizer: Optimizer, group: dict[str, object]) -> None:
        original(optimizer, group)
        of(optimizer.param_groups[-1]["params"])

    patches.put(
        optimizer_class,
        "add_param_group",
        add_param_group,
        "torch.optim.Optimizer.add_param_group: sees which tensors are stepped, for the changes of fit and run --with",
    )
