# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a tensor's place in autograd's graph.

torch finds the function of a view anew once its base was changed in place, and raises RuntimeError if it cannot. The
views that FSDP1 leaves in a module are such tensors. They take no part in a graph from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtrace._patching.signal_exceptions import raise_if_from_outside

if TYPE_CHECKING:
    from torch import Tensor
    from torch.autograd.graph import Node


def graph_of(tensor: Tensor) -> Node | None:
    """Returns the function that made the tensor; None without one, or if torch cannot find it."""
    try:
        return tensor.grad_fn
    except RuntimeError as error:
        raise_if_from_outside(error)
        return None


def is_leaf(tensor: Tensor, tensor_class: type[Tensor] | None = None) -> bool:
    """True if no function made the tensor; False if torch cannot find which did.

    Reads the attribute of `tensor_class` if it is given, because classes of the program may redefine it.
    """
    try:
        return tensor.is_leaf if tensor_class is None else bool(tensor_class.is_leaf.__get__(tensor))
    except RuntimeError as error:
        raise_if_from_outside(error)
        return False
