# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Normalizations, dropout, pooling and losses, forward and backward."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn


def _layer(layer: Callable[[], nn.Module], *shape: int, dtype: torch.dtype = torch.float32) -> Callable[[], object]:
    def run() -> None:
        x = torch.randn(*shape, device="cuda", dtype=dtype, requires_grad=True)
        y = layer().cuda().to(dtype)(x)
        y.backward(torch.ones_like(y))

    return run


def _last(layer: Callable[[], nn.Module], *shape: int, dtype: torch.dtype) -> Callable[[], object]:
    def run() -> None:
        x = torch.randn(*shape, device="cuda", dtype=dtype).to(memory_format=torch.channels_last).requires_grad_()
        y = layer().cuda().to(dtype)(x)
        y.backward(torch.ones_like(y))

    return run


def _ctc() -> None:
    scores = torch.randn(50, 16, 20, device="cuda", requires_grad=True)
    targets = torch.randint(1, 20, (16, 30), dtype=torch.long, device="cuda")
    lengths = torch.full((16,), 50, dtype=torch.long), torch.randint(10, 30, (16,), dtype=torch.long)
    F.ctc_loss(scores.log_softmax(2), targets, *lengths).backward()


def _ctc_by_cudnn() -> None:
    scores = torch.randn(50, 16, 20, device="cuda", requires_grad=True)
    targets = torch.randint(1, 20, (16 * 30,), dtype=torch.int32)
    lengths = torch.full((16,), 50, dtype=torch.int32), torch.full((16,), 30, dtype=torch.int32)
    F.ctc_loss(scores.log_softmax(2), targets, *lengths).backward()


def _cross_entropy(dtype: torch.dtype) -> Callable[[], object]:
    def run() -> None:
        scores = torch.randn(512, 32000, device="cuda", dtype=dtype, requires_grad=True)
        F.cross_entropy(scores, torch.zeros(512, dtype=torch.long, device="cuda")).backward()

    return run


def _embedding() -> None:
    table = nn.Embedding(32000, 512, device="cuda")
    table(torch.randint(0, 32000, (8, 512), device="cuda")).sum().backward()


def _grid_sample() -> None:
    x = torch.randn(4, 16, 64, 64, device="cuda", requires_grad=True)
    grid = torch.rand(4, 32, 32, 2, device="cuda") * 2 - 1
    F.grid_sample(x, grid, align_corners=False).sum().backward()


HALF = torch.bfloat16
PROGRAMS: dict[str, Callable[[], object]] = {
    "batch2d.fp32": _layer(lambda: nn.BatchNorm2d(64), 16, 64, 56, 56),
    "batch2d.bf16": _layer(lambda: nn.BatchNorm2d(64), 16, 64, 56, 56, dtype=HALF),
    "batch2d.fp32.channels_last": _last(lambda: nn.BatchNorm2d(64), 16, 64, 56, 56, dtype=torch.float32),
    "batch2d.fp16.channels_last": _last(lambda: nn.BatchNorm2d(64), 16, 64, 56, 56, dtype=torch.float16),
    "batch2d.bf16.channels_last": _last(lambda: nn.BatchNorm2d(64), 16, 64, 56, 56, dtype=HALF),
    "batch1d.fp32": _layer(lambda: nn.BatchNorm1d(256), 512, 256),
    "batch3d.fp32": _layer(lambda: nn.BatchNorm3d(32), 2, 32, 8, 32, 32),
    "group.fp32": _layer(lambda: nn.GroupNorm(32, 512), 1, 512, 64, 64),
    "group.bf16": _layer(lambda: nn.GroupNorm(32, 512), 1, 512, 64, 64, dtype=HALF),
    "layer.fp32": _layer(lambda: nn.LayerNorm(1024), 8, 512, 1024),
    "layer.bf16": _layer(lambda: nn.LayerNorm(1024), 8, 512, 1024, dtype=HALF),
    "rms.bf16": _layer(lambda: nn.RMSNorm(1024), 8, 512, 1024, dtype=HALF),
    "instance.fp32": _layer(lambda: nn.InstanceNorm2d(64, affine=True), 4, 64, 56, 56),
    "dropout.fp32": _layer(lambda: nn.Dropout(0.1), 8, 512, 1024),
    "maxpool.fp32": _layer(lambda: nn.MaxPool2d(3, 2, 1), 16, 64, 112, 112),
    "avgpool.fp32": _layer(lambda: nn.AdaptiveAvgPool2d(1), 16, 512, 7, 7),
    "interpolate.fp32": _layer(lambda: nn.Upsample(scale_factor=2, mode="bilinear"), 2, 64, 64, 64),
    "softmax.bf16": _layer(lambda: nn.Softmax(-1), 8, 16, 256, 256, dtype=HALF),
    "cross_entropy.bf16": _cross_entropy(HALF),
    "cross_entropy.fp32": _cross_entropy(torch.float32),
    "embedding": _embedding,
    "grid_sample": _grid_sample,
    "ctc": _ctc,
    "ctc.cudnn": _ctc_by_cudnn,
}
