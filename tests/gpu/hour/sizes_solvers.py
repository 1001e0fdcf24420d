# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Workspaces of linear algebra and Fourier transforms by size, shape and dtype, which a rule for them must match."""

from collections.abc import Callable

import torch

SINGLE, DOUBLE = torch.float32, torch.float64
SIZES = (16, 32, 33, 100, 128, 200, 256, 400, 768, 1000, 1024, 2048)


def _matrix(rows: int, columns: int, batch: int = 0, dtype: torch.dtype = SINGLE) -> torch.Tensor:
    """Returns a well-conditioned matrix, symmetric if it is square."""
    shape = (batch, rows, columns) if batch else (rows, columns)
    a = torch.rand(*shape, dtype=dtype, device="cuda")
    return a + a.mT + rows * torch.eye(rows, dtype=dtype, device="cuda") if rows == columns else a


FUNCTIONS: dict[str, Callable[[torch.Tensor], object]] = {
    "cholesky": torch.linalg.cholesky,
    "eigh": torch.linalg.eigh,
    "svd": torch.linalg.svd,
    "svd.thin": lambda a: torch.linalg.svd(a, full_matrices=False),
    "svdvals": torch.linalg.svdvals,
    "qr": torch.linalg.qr,
    "qr.complete": lambda a: torch.linalg.qr(a, mode="complete"),
    "lu": torch.linalg.lu_factor,
    "inv": torch.linalg.inv,
    "solve": lambda a: torch.linalg.solve(a, a[..., :8]),
}
TALL = {name: FUNCTIONS[name] for name in ("svd.thin", "svdvals", "qr")}


def _run(function: Callable[[torch.Tensor], object], *shape: int, dtype: torch.dtype = SINGLE) -> Callable[[], object]:
    return lambda: function(_matrix(*shape, dtype=dtype))


def _fourier(length: int, batch: int, kind: str, dtype: torch.dtype = SINGLE) -> Callable[[], object]:
    def run() -> object:
        x = torch.rand(batch, length, dtype=dtype, device="cuda")
        if kind == "fft":
            return torch.fft.fft(x + 0j)
        return torch.fft.rfft(x) if kind == "rfft" else torch.fft.irfft(x + 0j)

    return run


def _planes(rows: int, columns: int, batch: int, kind: str) -> Callable[[], object]:
    def run() -> object:
        x = torch.rand(batch, rows, columns, device="cuda")
        return torch.fft.fft2(x + 0j) if kind == "fft2" else torch.fft.rfft2(x)

    return run


LENGTHS = ((4096, 8), (8192, 8), (65536, 8), (1 << 20, 1), (97, 64), (10007, 4), (30000, 4), (400, 4000), (2000, 16))
PROGRAMS: dict[str, Callable[[], object]] = {
    **{f"{name}.{n}": _run(function, n, n) for name, function in FUNCTIONS.items() for n in SIZES},
    **{f"{name}.{n}.fp64": _run(FUNCTIONS[name], n, n, dtype=DOUBLE) for name in FUNCTIONS for n in (64, 512)},
    **{f"{name}.{m}x{n}": _run(f, m, n) for name, f in TALL.items() for m, n in ((1024, 64), (4096, 256), (64, 1024))},
    **{
        f"{name}.{n}.by{b}": _run(FUNCTIONS[name], n, n, b)
        for name in FUNCTIONS
        for n, b in ((8, 64), (64, 4), (512, 3))
    },
    **{f"{kind}.{n}x{b}": _fourier(n, b, kind) for kind in ("fft", "rfft", "irfft") for n, b in LENGTHS},
    **{f"{kind}.{n}x{b}.fp64": _fourier(n, b, kind, DOUBLE) for kind in ("fft", "rfft") for n, b in LENGTHS[:5]},
    **{
        f"{k}.{m}x{n}x{b}": _planes(m, n, b, k) for k in ("fft2", "rfft2") for m, n, b in ((256, 256, 8), (360, 720, 4))
    },
}
