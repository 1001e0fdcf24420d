# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""MEND's editing network and its inputs: a layer's input and the gradient of its output."""

import contextlib
import functools
from collections.abc import Iterator

import torch

Seen = dict[str, list[torch.Tensor]]  # by weight: input, gradient of the output


class GradientTransform(torch.nn.Module):
    """Two residual blocks of low rank, fp32."""

    def __init__(self, size: int, rank: int) -> None:
        super().__init__()
        self.up = torch.nn.ParameterList(torch.nn.Parameter(torch.empty(size, rank)) for _ in range(2))
        self.down = torch.nn.ParameterList(torch.nn.Parameter(torch.empty(rank, size)) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for up, down in zip(self.up, self.down, strict=True):
            x = x + torch.relu((x @ down.T) @ up.T)
        return x


@contextlib.contextmanager
def watch(model: torch.nn.Module, weights: list[str]) -> Iterator[Seen]:
    """Keeps, in one forward and backward inside, the inputs and gradients of the layers of `weights`."""
    seen: Seen = {}

    def keep_input(name: str, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        seen[name] = [inputs[0].detach()]

    def keep_gradient(name: str, module: torch.nn.Module, inputs: object, outputs: tuple[torch.Tensor, ...]) -> None:
        seen[name].append(outputs[0].detach())

    handles = []
    for name in weights:
        layer = model.get_submodule(name.removesuffix(".weight"))
        handles.append(layer.register_forward_pre_hook(functools.partial(keep_input, name)))
        handles.append(layer.register_full_backward_hook(functools.partial(keep_gradient, name)))
    yield seen
    for handle in handles:
        handle.remove()
