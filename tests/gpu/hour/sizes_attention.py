# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention in each backend, forward and backward, by shape."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {
    "chosen": None,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}
# batch, heads, heads of keys, queries, keys, head size
SHAPES = {
    "gpt2": (4, 12, 12, 1024, 1024, 64),
    "llama": (2, 32, 8, 2048, 2048, 128),
    "decode": (4, 32, 8, 1, 2048, 128),
    "short": (2, 8, 8, 77, 77, 64),
    "cross": (2, 10, 10, 1024, 77, 64),
    "wide": (1, 4, 4, 1024, 1024, 256),
    "vae": (1, 1, 1, 1024, 1024, 512),
    "odd": (2, 3, 3, 333, 333, 72),
    "split": (1, 8, 8, 128, 8192, 64),
    "decode.one": (1, 32, 8, 1, 2048, 128),
    "decode.long": (1, 32, 8, 1, 16384, 128),
    "decode.many": (32, 32, 8, 1, 1024, 128),
    "decode.short": (4, 32, 8, 1, 128, 128),
    "decode.64": (2, 12, 12, 1, 1024, 64),
    "decode.full": (4, 32, 32, 1, 2048, 128),
    "few": (2, 16, 4, 8, 2048, 128),
    "grouped": (1, 16, 4, 1024, 1024, 64),
    "grouped.two": (2, 28, 4, 512, 512, 128),
}


def _run(
    shape: tuple[int, ...],
    backend: SDPBackend | None,
    dtype: torch.dtype,
    causal: bool,
    train: bool,
    mask: bool = False,
) -> Callable[[], object]:
    batch, heads, key_heads, queries, keys, size = shape

    def attend() -> None:
        def tensor(count: int, length: int) -> torch.Tensor:
            return torch.randn(batch, count, length, size, device="cuda", dtype=dtype, requires_grad=train)

        q, k, v = tensor(heads, queries), tensor(key_heads, keys), tensor(key_heads, keys)
        bias = torch.zeros(batch, 1, queries, keys, device="cuda", dtype=dtype) if mask else None
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=bias, is_causal=causal and bias is None, enable_gqa=heads != key_heads
        )
        if train:
            y.backward(torch.ones_like(y))

    def run() -> None:
        with torch.set_grad_enabled(train):
            if backend is None:
                attend()
                return
            with sdpa_kernel(backend):
                attend()

    return run


def _all() -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {}
    for name, shape in SHAPES.items():
        causal = shape[3] == shape[4]
        for short, backend in BACKENDS.items():
            for train in (False, True):
                label = f"{name}.{short}.{'train' if train else 'eval'}"
                found[f"{label}.bf16"] = _run(shape, backend, torch.bfloat16, causal, train)
                if short in ("chosen", "efficient", "math") and name in ("gpt2", "short", "vae"):
                    found[f"{label}.fp32"] = _run(shape, backend, torch.float32, causal, train)
                if name in ("gpt2", "cross", "short"):
                    found[f"{label}.bf16.mask"] = _run(shape, backend, torch.bfloat16, causal, train, mask=True)
    return found


PROGRAMS = _all()
