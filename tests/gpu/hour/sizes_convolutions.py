# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions: cuDNN's workspaces by dtype, shape, direction, layout and setting."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn

SHORT = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float64: "fp64"}


@dataclass(frozen=True)
class Shape:
    """The input (batch, channels, extents) and the convolution's arguments."""

    name: str
    input: tuple[int, ...]
    out: int
    window: int = 3
    kind: type[nn.Module] = nn.Conv2d
    more: dict[str, object] = field(default_factory=dict)


PADDED = {"padding": 1}
SHAPES = (
    Shape("images.3to64.224", (8, 3, 224, 224), 64, 7, more={"stride": 2, "padding": 3}),
    Shape("images.4to320.64", (2, 4, 64, 64), 320, more=PADDED),
    Shape("vae.128.256", (1, 128, 256, 256), 128, more=PADDED),
    Shape("vae.128to3.256", (1, 128, 256, 256), 3, more=PADDED),
    Shape("vae.512.64", (1, 512, 64, 64), 512, more=PADDED),
    Shape("vae.512.128", (1, 512, 128, 128), 512, more=PADDED),
    Shape("vae.512.256", (1, 512, 256, 256), 512, more=PADDED),
    Shape("vae.256.512", (1, 256, 512, 512), 256, more=PADDED),
    Shape("vae.256to128.256", (1, 256, 256, 256), 128, more=PADDED),
    Shape("vae.down.256.129", (1, 256, 129, 129), 256, more={"stride": 2}),
    Shape("vae.512to8.64", (1, 512, 64, 64), 8, more=PADDED),
    Shape("point.512.64", (1, 512, 64, 64), 512, 1),
    Shape("point.64to256.56", (32, 64, 56, 56), 256, 1),
    Shape("resnet.64.56", (32, 64, 56, 56), 64, more=PADDED),
    Shape("resnet.128.28.down", (32, 128, 56, 56), 128, more={"padding": 1, "stride": 2}),
    Shape("resnet.512.7", (32, 512, 7, 7), 512, more=PADDED),
    Shape("depthwise.96.56", (8, 96, 56, 56), 96, 7, more={"padding": 3, "groups": 96}),
    Shape("grouped.128.28", (8, 128, 28, 28), 128, more={"padding": 1, "groups": 4}),
    Shape("dilated.64.56", (8, 64, 56, 56), 64, more={"padding": 2, "dilation": 2}),
    Shape("odd.33.31", (4, 33, 31, 31), 65, more=PADDED),
    Shape("sound.80to512.1500", (4, 80, 1500), 512, kind=nn.Conv1d, more=PADDED),
    Shape("video.16.32.64", (1, 16, 8, 64, 64), 32, kind=nn.Conv3d, more=PADDED),
    Shape("video.128.64", (1, 128, 9, 64, 64), 128, kind=nn.Conv3d, more=PADDED),
    Shape("patches.3to1024.14", (4, 3, 224, 224), 1024, 14, more={"stride": 14}),
    Shape("patches3d.3to1152", (4, 3, 2, 28, 28), 1152, 14, kind=nn.Conv3d, more={"stride": 14}),
    Shape("up.64.28", (8, 64, 28, 28), 32, 4, kind=nn.ConvTranspose2d, more={"stride": 2, "padding": 1}),
    Shape("up.512.64", (1, 512, 64, 64), 256, 4, kind=nn.ConvTranspose2d, more={"stride": 2, "padding": 1}),
)


def _run(shape: Shape, dtype: torch.dtype, backward: bool, last: bool = False, **flags: bool) -> Callable[[], object]:
    def run() -> None:
        window = (2, shape.window, shape.window) if shape.name.startswith("patches3d") else shape.window
        more = dict(shape.more)
        if shape.name.startswith("patches3d"):
            more["stride"] = (2, 14, 14)
        layer = shape.kind(shape.input[1], shape.out, window, device="cuda", dtype=dtype, **more)
        x = torch.randn(*shape.input, device="cuda", dtype=dtype, requires_grad=backward)
        if last:
            layer, x = layer.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
        with torch.backends.cudnn.flags(**{"enabled": True, "benchmark": False, "allow_tf32": True, **flags}):
            with torch.set_grad_enabled(backward):
                y = layer(x)
            if backward:
                y.backward(torch.ones_like(y))

    return run


def _all() -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {}
    for shape in SHAPES:
        for dtype, short in SHORT.items():
            if short == "fp64" and not shape.name.startswith(("resnet", "odd")):
                continue
            found[f"{shape.name}.{short}.forward"] = _run(shape, dtype, False)
            found[f"{shape.name}.{short}.backward"] = _run(shape, dtype, True)
        found[f"{shape.name}.fp32.no_tf32.forward"] = _run(shape, torch.float32, False, allow_tf32=False)
        found[f"{shape.name}.fp32.no_tf32.backward"] = _run(shape, torch.float32, True, allow_tf32=False)
        found[f"{shape.name}.bf16.benchmark"] = _run(shape, torch.bfloat16, True, benchmark=True)
        if len(shape.input) == 4:
            found[f"{shape.name}.bf16.channels_last"] = _run(shape, torch.bfloat16, True, last=True)
            found[f"{shape.name}.fp32.channels_last"] = _run(shape, torch.float32, True, last=True)
    return found


PROGRAMS = _all()
