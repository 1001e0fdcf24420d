# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the times of operations and whole steps on a card as JSON lines, for comparison with estimates.

Usage: op_times.py >FILE. Times are microseconds of the card, the median of the runs (CUDA events), with the minimum
number of arithmetic operations (`flops`) and of bytes read and written once (`bytes`) for the operation.
"""

import json
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
RUNS, WARM_UP = 11, 3


def microseconds(call: Callable[[], object]) -> float:
    """Returns the median time of one call on the card. Eight calls lie between two events, so that launches overlap."""
    for _ in range(WARM_UP):
        call()
    times = []
    for _ in range(RUNS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(8):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / 8)
    return round(statistics.median(times), 2)


def say(name: str, call: Callable[[], object], flops: float = 0, moved: float = 0) -> None:
    try:
        print(json.dumps({"name": name, "us": microseconds(call), "flops": flops, "bytes": moved}), flush=True)
    except (RuntimeError, torch.OutOfMemoryError) as error:
        print(json.dumps({"name": name, "error": str(error)[:200]}), flush=True)


def products() -> None:
    for dtype in (BF16, FP16, FP32):
        for m, n, k in (
            (128, 128, 128),
            (1024, 1024, 1024),
            (2048, 2048, 2048),
            (4096, 4096, 4096),
            (8192, 8192, 8192),
            (8192, 50257, 768),
            (8192, 3072, 768),
            (16, 4096, 4096),
            (1, 8192, 8192),
            (2048, 14336, 4096),
        ):
            a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(k, n, device="cuda", dtype=dtype)
            moved = (m * k + k * n + m * n) * a.element_size()
            say(f"mm {dtype} {m}x{n}x{k}", lambda a=a, b=b: a @ b, 2.0 * m * n * k, moved)
    torch.backends.cuda.matmul.allow_tf32 = True
    a = torch.randn(4096, 4096, device="cuda")
    say("mm tf32 4096x4096x4096", lambda: a @ a, 2.0 * 4096**3, 3 * a.nbytes)
    torch.backends.cuda.matmul.allow_tf32 = False
    batch = torch.randn(64, 1024, 128, device="cuda", dtype=BF16)
    say(
        "bmm bf16 64x1024x1024x128", lambda: batch @ batch.mT, 2.0 * 64 * 1024**2 * 128, 64 * (2 * 131072 + 1024**2) * 2
    )


def elementwise() -> None:
    for dtype in (BF16, FP32):
        for count in (1, 1 << 10, 1 << 16, 1 << 20, 1 << 23, 1 << 26, 1 << 28):
            x = torch.ones(count, device="cuda", dtype=dtype)
            say(f"add_ {dtype} {count}", lambda x=x: x.add_(1), count, 2 * x.nbytes)
            say(f"gelu {dtype} {count}", lambda x=x: F.gelu(x), 0, 2 * x.nbytes)
            say(f"sum {dtype} {count}", lambda x=x: x.sum(), count, x.nbytes)
    x = torch.randn(8192, 4096, device="cuda", dtype=BF16)
    say("softmax bf16 8192x4096", lambda: torch.softmax(x, -1), 0, 2 * x.nbytes)
    say("layer_norm bf16 8192x4096", lambda: F.layer_norm(x, (4096,)), 0, 2 * x.nbytes)
    say("transpose bf16 8192x4096", lambda: x.T.contiguous(), 0, 2 * x.nbytes)
    say("to fp32 8192x4096", lambda: x.float(), 0, 3 * x.nbytes)
    logits, labels = torch.randn(8192, 50257, device="cuda"), torch.randint(0, 50257, (8192,), device="cuda")
    say("cross_entropy fp32 8192x50257", lambda: F.cross_entropy(logits, labels), 0, 2 * logits.nbytes)
    table, rows = torch.randn(50257, 4096, device="cuda", dtype=BF16), torch.randint(0, 50257, (8192,), device="cuda")
    say("embedding bf16 8192 of 50257x4096", lambda: F.embedding(rows, table), 0, 2 * 8192 * 4096 * 2)


def attention() -> None:
    backends = torch.nn.attention.SDPBackend
    for length in (512, 2048, 8192):
        for backend in (
            backends.FLASH_ATTENTION,
            backends.EFFICIENT_ATTENTION,
            backends.CUDNN_ATTENTION,
            backends.MATH,
        ):
            q = torch.randn(4, 16, length, 128, device="cuda", dtype=BF16, requires_grad=True)

            def forward(q: torch.Tensor = q, backend: torch.nn.attention.SDPBackend = backend) -> torch.Tensor:
                with torch.nn.attention.sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q, q, q, is_causal=True)

            if backend == backends.MATH and length > 2048:
                continue
            flops = 4.0 * 4 * 16 * length**2 * 128 / 2
            say(f"attention {backend.name} {length}", lambda f=forward: f(), flops, 4 * q.nbytes)
            say(f"attention and backward {backend.name} {length}", lambda f=forward: f().sum().backward(), 3.5 * flops)


def convolutions() -> None:
    for dtype in (FP16, FP32):
        for n, c, k, size, kernel in (
            (32, 64, 64, 56, 3),
            (32, 256, 512, 28, 3),
            (32, 256, 1024, 14, 1),
            (1, 128, 128, 512, 3),
        ):
            x = torch.randn(n, c, size, size, device="cuda", dtype=dtype)
            weight = torch.randn(k, c, kernel, kernel, device="cuda", dtype=dtype)
            say(
                f"conv2d {dtype} {n}x{c}x{size} to {k}, {kernel}x{kernel}",
                lambda x=x, w=weight, p=kernel // 2: F.conv2d(x, w, padding=p),
                2.0 * n * k * c * size**2 * kernel**2,
                x.nbytes + weight.nbytes + n * k * size**2 * x.element_size(),
            )


def optimizers() -> None:
    for name, options in (("foreach", {}), ("fused", {"fused": True}), ("loop", {"foreach": False})):
        parameters = [torch.nn.Parameter(torch.randn(4096, 4096, device="cuda")) for _ in range(16)]
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        optimizer = torch.optim.AdamW(parameters, **options)
        say(f"AdamW {name} 16 x 4096x4096 fp32", optimizer.step, 0, 7 * 16 * 4096**2 * 4)


def copies() -> None:
    for count in (4, 1 << 12, 1 << 20, 1 << 24, 1 << 28, 1 << 30):
        on_card = torch.zeros(count, dtype=torch.uint8, device="cuda")
        for pinned in (False, True):
            host = torch.zeros(count, dtype=torch.uint8, pin_memory=pinned)
            kind = "pinned" if pinned else "pageable"
            say(f"to card, {kind} {count}", lambda h=host, d=on_card: d.copy_(h, non_blocking=True), 0, count)
            say(f"to host, {kind} {count}", lambda h=host, d=on_card: h.copy_(d, non_blocking=True), 0, count)
        other = torch.zeros_like(on_card)
        say(f"on the card {count}", lambda o=other, d=on_card: o.copy_(d), 0, 2 * count)


def launches() -> None:
    x = torch.ones(1, device="cuda")
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(5000):
        x.add_(1)
    torch.cuda.synchronize()
    print(
        json.dumps({"name": "launch of add_, host and card", "us": round((time.perf_counter() - started) / 5000e-6, 3)})
    )
    started = time.perf_counter()
    for _ in range(500):
        x.item()
    print(json.dumps({"name": "item", "us": round((time.perf_counter() - started) / 500e-6, 3)}))


def main() -> None:
    torch.manual_seed(0)
    properties = torch.cuda.get_device_properties(0)
    print(
        json.dumps(
            {"card": properties.name, "multiprocessors": properties.multi_processor_count, "torch": torch.__version__}
        )
    )
    for group in (launches, products, elementwise, attention, convolutions, optimizers, copies):
        group()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
