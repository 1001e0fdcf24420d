# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products: the workspaces of cuBLAS and cuBLASLt, by dtype and shape."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

HALF, SINGLE = torch.bfloat16, torch.float32


def _random(*shape: int, dtype: torch.dtype = HALF, grad: bool = False) -> torch.Tensor:
    return torch.randn(*shape, device="cuda").to(dtype).requires_grad_(grad)


def _product(dtype: torch.dtype, rows: int, inner: int, columns: int, tf32: bool = False) -> Callable[[], object]:
    def run() -> object:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        try:
            return _random(rows, inner, dtype=dtype) @ _random(inner, columns, dtype=dtype)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False

    return run


def _linear(dtype: torch.dtype, rows: int, inner: int, columns: int) -> Callable[[], object]:
    def run() -> None:
        x, w, b = (_random(*shape, dtype=dtype, grad=True) for shape in ((rows, inner), (columns, inner), (columns,)))
        F.linear(x, w, b).sum().backward()

    return run


def _batched(dtype: torch.dtype) -> Callable[[], object]:
    return lambda: torch.bmm(_random(16, 256, 128, dtype=dtype), _random(16, 128, 512, dtype=dtype))


def _two_streams() -> None:
    a = _random(512, 512)
    for _ in range(2):
        with torch.cuda.stream(torch.cuda.Stream()):
            a @ a
    a @ a
    torch.cuda.synchronize()


def _int8() -> object:
    a = torch.randint(-9, 9, (256, 256), dtype=torch.int8, device="cuda")
    return torch._int_mm(a, a)


def _fp8() -> object:
    a = _random(256, 256).to(torch.float8_e4m3fn)
    one = torch.ones((), device="cuda")
    return torch._scaled_mm(a, a.t(), scale_a=one, scale_b=one, out_dtype=HALF)


def _fp8_rows() -> object:
    a = _random(256, 256).to(torch.float8_e4m3fn)
    scales = torch.ones(256, 1, device="cuda")
    return torch._scaled_mm(a, a.t(), scale_a=scales, scale_b=scales.t(), out_dtype=HALF)


def _grouped() -> object:
    ends = torch.arange(64, 257, 64, dtype=torch.int32, device="cuda")
    return torch._grouped_mm(_random(256, 128), _random(4, 128, 512), offs=ends)


def _addmm_gelu() -> object:
    return torch._addmm_activation(_random(512), _random(256, 1024), _random(1024, 512), use_gelu=True)


PROGRAMS: dict[str, Callable[[], object]] = {
    **{
        f"{str(dtype)[6:]}.{rows}x{inner}x{columns}": _product(dtype, rows, inner, columns)
        for dtype in (HALF, torch.float16, SINGLE, torch.float64)
        for rows, inner, columns in ((512, 512, 512), (4096, 1024, 4096), (17, 1000, 33), (64, 65536, 64))
    },
    "tf32.4096": _product(SINGLE, 4096, 4096, 4096, tf32=True),
    "complex": _product(torch.complex64, 256, 256, 256),
    "linear.bfloat16": _linear(HALF, 1024, 768, 3072),
    "linear.float32": _linear(SINGLE, 1024, 768, 3072),
    "linear.float16.odd": _linear(torch.float16, 1023, 769, 3071),
    "bmm.bfloat16": _batched(HALF),
    "bmm.float32": _batched(SINGLE),
    "two_streams": _two_streams,
    "int8": _int8,
    "fp8": _fp8,
    "fp8.rows": _fp8_rows,
    "grouped": _grouped,
    "addmm_gelu": _addmm_gelu,
    "dot": lambda: torch.dot(_random(1 << 16), _random(1 << 16)),
    "matvec": lambda: _random(1024, 1024) @ _random(1024),
    "einsum": lambda: torch.einsum("bhqd,bhkd->bhqk", _random(2, 4, 128, 64), _random(2, 4, 128, 64)),
    "baddbmm": lambda: torch.baddbmm(_random(4, 64, 64), _random(4, 64, 32), _random(4, 32, 64)),
}
