# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: cuDNN's weights, workspace, reserve and dropout states."""

from collections.abc import Callable

import torch
from torch import nn


def _run(
    kind: type[nn.Module],
    size: int,
    hidden: int,
    steps: int,
    batch: int,
    dtype: torch.dtype,
    train: bool,
    **more: object,
) -> Callable[[], object]:
    def run() -> None:
        layer = kind(size, hidden, **more).cuda().to(dtype).train(train)
        x = torch.randn(steps, batch, size, device="cuda", dtype=dtype, requires_grad=train)
        with torch.set_grad_enabled(train):
            y = layer(x)[0]
        if train:
            y.backward(torch.ones_like(y))

    return run


def _all() -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {}
    kinds: dict[str, tuple[type[nn.Module], dict[str, object]]] = {
        "lstm": (nn.LSTM, {}),
        "gru": (nn.GRU, {}),
        "tanh": (nn.RNN, {}),
        "lstm.2layers": (nn.LSTM, {"num_layers": 2}),
        "lstm.2layers.dropout": (nn.LSTM, {"num_layers": 2, "dropout": 0.1}),
        "lstm.both": (nn.LSTM, {"bidirectional": True}),
        "lstm.projected": (nn.LSTM, {"proj_size": 32}),
    }
    shapes = ((64, 128, 20, 8), (256, 256, 50, 32), (80, 512, 100, 16), (512, 1024, 10, 64))
    for name, (kind, more) in kinds.items():
        for shape in shapes:
            for dtype, short in ((torch.float32, "fp32"), (torch.float16, "fp16")):
                for train in (False, True):
                    label = f"{name}.{'x'.join(map(str, shape))}.{short}.{'train' if train else 'eval'}"
                    found[label] = _run(kind, *shape, dtype, train, **more)
    return found


PROGRAMS = _all()
