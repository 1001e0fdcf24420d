# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, Fourier transforms and sparse matrices: the workspaces of cuSOLVER, MAGMA, cuFFT and cuSPARSE."""

from collections.abc import Callable

import torch


def _square(size: int, batch: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Returns a symmetric, positive definite matrix."""
    shape = (batch, size, size) if batch else (size, size)
    a = torch.randn(*shape, dtype=torch.float64)
    return (a @ a.mT / size + torch.eye(size, dtype=torch.float64)).to(dtype).cuda()


def _by(function: Callable[[torch.Tensor], object], size: int, batch: int = 0) -> Callable[[], object]:
    return lambda: function(_square(size, batch))


FUNCTIONS: dict[str, Callable[[torch.Tensor], object]] = {
    "cholesky": torch.linalg.cholesky,
    "eigh": torch.linalg.eigh,
    "eigvalsh": torch.linalg.eigvalsh,
    "svd": torch.linalg.svd,
    "svdvals": torch.linalg.svdvals,
    "qr": torch.linalg.qr,
    "lu": torch.linalg.lu_factor,
    "inv": torch.linalg.inv,
    "solve": lambda a: torch.linalg.solve(a, a),
    "det": torch.linalg.det,
    "lstsq": lambda a: torch.linalg.lstsq(a, a).solution,
    "cholesky_inverse": torch.cholesky_inverse,
    "triangular": lambda a: torch.linalg.solve_triangular(a, a, upper=True),
    "matrix_norm_2": lambda a: torch.linalg.matrix_norm(a, 2),
    "pinv": torch.linalg.pinv,
}


def _sparse(function: Callable[[torch.Tensor, torch.Tensor], object]) -> Callable[[], object]:
    def run() -> object:
        dense = (torch.rand(512, 512, device="cuda") > 0.95).float()
        return function(dense.to_sparse_csr(), dense)

    return run


def _coo() -> object:
    dense = (torch.rand(512, 512, device="cuda") > 0.95).float()
    return torch.sparse.mm(dense.to_sparse(), dense)


PROGRAMS: dict[str, Callable[[], object]] = {
    **{f"{name}.{size}": _by(function, size) for name, function in FUNCTIONS.items() for size in (64, 512, 1500)},
    **{f"{name}.32x16": _by(FUNCTIONS[name], 32, 16) for name in FUNCTIONS},
    "fft.1000": lambda: torch.fft.fft(torch.randn(64, 1000, device="cuda")),
    "fft.1024": lambda: torch.fft.fft(torch.randn(64, 1024, device="cuda")),
    "fft.1009": lambda: torch.fft.fft(torch.randn(64, 1009, device="cuda")),
    "rfft.65536": lambda: torch.fft.rfft(torch.randn(16, 65536, device="cuda")),
    "irfft.65536": lambda: torch.fft.irfft(torch.fft.rfft(torch.randn(16, 65536, device="cuda"))),
    "fft2.512": lambda: torch.fft.fft2(torch.randn(8, 512, 512, device="cuda")),
    "rfft2.500": lambda: torch.fft.rfft2(torch.randn(8, 500, 500, device="cuda")),
    "stft": lambda: torch.stft(
        torch.randn(4, 160000, device="cuda"),
        400,
        160,
        window=torch.hann_window(400, device="cuda"),
        return_complex=True,
    ),
    "csr.dense": _sparse(lambda a, b: a @ b),
    "csr.csr": _sparse(lambda a, _: a @ a),
    "csr.vector": _sparse(lambda a, b: a @ b[0]),
    "coo.dense": _coo,
}
