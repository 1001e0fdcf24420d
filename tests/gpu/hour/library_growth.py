# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the card memory that handles of CUDA's libraries and kinds of kernels take, as JSON, in bytes.

Usage: library_growth.py >FILE. Run it while nothing else uses the card. `handles` are made through the libraries' own C
functions, three of each; `kernels` are torch's, of which only the memory outside torch's allocator counts.
"""

import ctypes
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from context_growth import beside_torch

SDPA = torch.nn.attention.SDPBackend
HANDLES = {
    "cublasCreate_v2": "cublas/lib/libcublas.so.*",
    "cublasLtCreate": "cublas/lib/libcublasLt.so.*",
    "cudnnCreate": "cudnn/lib/libcudnn.so.*",
    "cusolverDnCreate": "cusolver/lib/libcusolver.so.*",
    "cusparseCreate": "cusparse/lib/libcusparse.so.*",
}


def library(pattern: str) -> ctypes.CDLL:
    """Loads a library of the wheels beside torch; `nvidia/cu13/lib` holds most of those of CUDA 13."""
    site = Path(torch.__file__).parent.parent / "nvidia"
    name = pattern.rsplit("/", 1)[1]
    return ctypes.CDLL(
        str(next(iter([*site.glob(pattern), *site.glob(f"cu1*/lib/{name}"), *site.glob(f"*/lib/{name}")])))
    )


def handles(name: str) -> list[int]:
    torch.ones(1, device="cuda").add_(1)
    made, steps = getattr(library(HANDLES[name]), name), [beside_torch()]
    for _ in range(3):
        handle = ctypes.c_void_p()
        status = made(ctypes.byref(handle))
        if status != 0:
            return [-status]
        steps.append(beside_torch())
    return [after - before for before, after in itertools.pairwise(steps)]


def plans() -> list[int]:
    torch.ones(1, device="cuda").add_(1)
    steps = [beside_torch()]
    for length in (1000, 1024, 1000, 17 * 19):
        torch.fft.fft(torch.ones(length, device="cuda"))
        steps.append(beside_torch())
    return [after - before for before, after in itertools.pairwise(steps)]


def attention(backend: torch.nn.attention.SDPBackend, dtype: torch.dtype, width: int, grad: bool) -> Callable[[], None]:
    def call() -> None:
        q = torch.ones(1, 8, 512, width, device="cuda", dtype=dtype, requires_grad=grad)
        with torch.nn.attention.sdpa_kernel(backend):
            out = F.scaled_dot_product_attention(q, q, q)
        if grad:
            out.sum().backward()

    return call


def convolution(dtype: torch.dtype, grad: bool) -> Callable[[], None]:
    def call() -> None:
        x = torch.ones(2, 64, 64, 64, device="cuda", dtype=dtype, requires_grad=grad)
        out = F.conv2d(x, torch.ones(64, 64, 3, 3, device="cuda", dtype=dtype, requires_grad=grad))
        if grad:
            out.sum().backward()

    return call


def in_a_thread(call: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    return run


def product(dtype: torch.dtype) -> Callable[[], None]:
    def call() -> None:
        a = torch.ones(512, 512, device="cuda", dtype=dtype)
        F.linear(a, a, a[0])

    return call


HALF, BF16, FP32 = torch.float16, torch.bfloat16, torch.float32
KERNELS: dict[str, Callable[[], None]] = {
    "product bf16": product(BF16),
    "product fp16": product(HALF),
    "product fp32": product(FP32),
    "product in a thread": in_a_thread(product(BF16)),
    "product in a second thread": in_a_thread(product(BF16)),
    "flash bf16": attention(SDPA.FLASH_ATTENTION, BF16, 64, grad=False),
    "flash bf16 again": attention(SDPA.FLASH_ATTENTION, BF16, 64, grad=False),
    "flash bf16 128": attention(SDPA.FLASH_ATTENTION, BF16, 128, grad=False),
    "flash fp16": attention(SDPA.FLASH_ATTENTION, HALF, 64, grad=False),
    "flash backward": attention(SDPA.FLASH_ATTENTION, BF16, 64, grad=True),
    "flash backward 128": attention(SDPA.FLASH_ATTENTION, BF16, 128, grad=True),
    "efficient": attention(SDPA.EFFICIENT_ATTENTION, BF16, 64, grad=False),
    "efficient backward": attention(SDPA.EFFICIENT_ATTENTION, BF16, 64, grad=True),
    "cudnn attention": attention(SDPA.CUDNN_ATTENTION, BF16, 64, grad=False),
    "cudnn attention backward": attention(SDPA.CUDNN_ATTENTION, BF16, 64, grad=True),
    "convolution bf16": convolution(BF16, grad=False),
    "convolution fp32": convolution(FP32, grad=False),
    "convolution backward": convolution(BF16, grad=True),
    "convolution in a thread": in_a_thread(convolution(BF16, grad=False)),
    "convolution in a second thread": in_a_thread(convolution(BF16, grad=False)),
    "eigenvalues": lambda: torch.linalg.eigvalsh(torch.eye(64, device="cuda")).sum().item() and None,
    "cholesky": lambda: torch.linalg.cholesky(torch.eye(64, device="cuda")).sum().item() and None,
    "eigenvalues in a thread": in_a_thread(
        lambda: torch.linalg.eigvalsh(torch.eye(64, device="cuda")).sum().item() and None
    ),
    "sort": lambda: torch.ones(1 << 20, device="cuda").sort() and None,
    "random": lambda: torch.randn(1 << 20, device="cuda") is None or None,
    "multinomial": lambda: torch.multinomial(torch.ones(4, 1000, device="cuda"), 3) is None or None,
}


def kernels(names: list[str]) -> dict[str, int]:
    torch.ones(1 << 20, device="cuda").add_(1).sum().item()
    grown, before = {}, beside_torch()
    for name in names:
        KERNELS[name]()
        after = beside_torch()
        grown[name], before = after - before, after
    return grown


def in_process(*arguments: str) -> object:
    done = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip().splitlines()[-1:]


def main() -> None:
    if len(sys.argv) > 1:
        kind, *names = sys.argv[1:]
        found = {"handles": lambda: handles(*names), "plans": plans, "kernels": lambda: kernels(names or list(KERNELS))}
        json.dump(found[kind](), sys.stdout)
        return
    result = {
        "torch": torch.__version__,
        "handles": {name: in_process("handles", name) for name in HANDLES},
        "plans": in_process("plans"),
        "kernels": in_process("kernels"),
        # Each runs alone, in a process of its own, because the first one also takes what the others share.
        "alone": {
            name: in_process("kernels", name)
            for name in (
                "flash bf16",
                "efficient",
                "cudnn attention",
                "convolution bf16",
                "convolution backward",
                "eigenvalues",
                "sort",
                "random",
            )
        },
    }
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
