# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the rules of docs/design/whole-job.md for the time of an operation on an H100 with measured times.

Usage: card_times.py [RECORDING] prints the error of each class of operations; -v prints each operation. Times are
microseconds on the card, in which the host's time for a launch is a floor. A figure says nothing about other cards.
"""

import json
import re
import statistics
import sys
from pathlib import Path

RECORDING = Path(__file__).parent.parent / "tests/gpu/recordings/h100-80gb/op_times.jsonl"

BANDWIDTH = 2.95e6  # bytes per microsecond
PEAK = {"bfloat16": 760e6, "float16": 720e6, "tf32": 400e6, "float32": 50e6}  # operations per microsecond
UNALIGNED = 127e6  # of 16-bit products with a row that is no multiple of 16 bytes
START = 5.0  # of a product
LAUNCH = {"product": 18.5, "product float32": 14.5, "other": 7.7, "attention": 45.0}  # on the host, a floor
# Kernels take as long as if they moved this many times their least bytes.
PASSES = {"softmax": 2.34, "layer_norm": 1.47, "transpose": 5.6, "to": 1.53, "cross_entropy": 1.87, "embedding": 1.06}
OPTIMIZER_PASSES = {"foreach": 22.0, "fused": 7.9, "loop": 20.7}  # over the parameters' bytes
# Operations per microsecond at endless length, and the length at which half of that is reached; head size 128, causal.
ATTENTION = {"FLASH": (370e6, 995), "CUDNN": (619e6, 644), "EFFICIENT": (180e6, 585)}
ATTENTION_BACKWARD = {"FLASH": (354e6, 1505), "CUDNN": (638e6, 1842), "EFFICIENT": (145e6, 784)}
CONVOLUTION = {"float16": 450e6, "float32": 400e6}
CONVOLUTION_START, LAYOUT_PASSES = 6.0, 2.4  # NCHW is copied to NHWC and back
BUS = {"to card, pinned": 55e3, "to host, pinned": 55e3, "to card, pageable": 8.5e3, "to host, pageable": 14.5e3}
BUS_START, PAGEABLE_IN_CACHE = 5.0, 15e3  # pageable copies below 32 MiB


def product(kind: str, flops: float, moved: float, is_aligned: bool = True) -> float:
    """Returns the time on the card of a product of matrices."""
    rate = PEAK[kind] if is_aligned or kind in ("float32", "tf32") else UNALIGNED
    return START + max(flops / rate, moved / BANDWIDTH)


def passes(moved: float, factor: float = 1.0) -> float:
    """Returns the time on the card of a kernel that is bound by memory."""
    return 2.5 + factor * moved / BANDWIDTH


def attention(backend: str, flops: float, length: int, is_backward: bool = False) -> float:
    """Returns the time on the card of fused attention; `flops` counts half of the square if it is causal."""
    rate, half = (ATTENTION_BACKWARD if is_backward else ATTENTION)[backend]
    return flops / rate * (1 + half / length)


def convolution(kind: str, flops: float, moved: float, is_copied: bool = True) -> float:
    """Returns the time on the card of a convolution; `is_copied` if its tensors are not channels-last."""
    return CONVOLUTION_START + flops / CONVOLUTION[kind] + is_copied * LAYOUT_PASSES * moved / BANDWIDTH


def bus(kind: str, moved: float) -> float:
    """Returns the time of a copy between host and card."""
    rate = PAGEABLE_IN_CACHE if "pageable" in kind and moved < 1 << 25 else BUS[kind]
    return BUS_START + moved / rate


def _attention_row(name: str, flops: float, moved: float) -> float | None:
    backend, length = name.split()[-2].partition("_")[0], int(name.split()[-1])
    if backend == "MATH":  # products in fp32 of the whole square, and about twelve passes over it
        square = 64.0 * length**2 * 4
        forward = product("float32", 2 * 4 * square / 4 * 128 / 2, 0) + passes(square, 12.0)
        return forward * (2.1 if "backward" in name else 1.0)
    if "backward" not in name:
        return max(LAUNCH["attention"], attention(backend, flops, length))
    forward, out = flops / 3.5, 64.0 * length * 128 * 2
    extra = max(5 * LAUNCH["other"], passes(out) + passes(out) + 3 * passes(3 * out))  # sum, its gradient, three adds
    first = max(LAUNCH["attention"], attention(backend, forward, length))
    return first + attention(backend, 2.5 * forward, length, is_backward=True) + extra


def _product_row(name: str, flops: float, moved: float) -> float:
    kind = "tf32" if "tf32" in name else re.sub("^bf16$", "bfloat16", name.split()[1].removeprefix("torch."))
    is_aligned = int(name.split("x")[1]) % 8 == 0
    floor = LAUNCH["product float32" if kind == "float32" else "product"]
    return max(floor, product(kind, flops, moved, is_aligned))


def predicted(name: str, flops: float, moved: float) -> tuple[str, float] | None:
    """Returns the class of a recorded operation and its time by the rules; None if there is no rule."""
    word = name.split()[0]
    if word in ("mm", "bmm"):
        return "products", _product_row(name, flops, moved)
    if word == "attention":
        time = _attention_row(name, flops, moved)
        return None if time is None else ("attention", time)
    if word == "conv2d":
        return "convolutions", convolution(name.split()[1].removeprefix("torch."), flops, moved)
    if word == "AdamW":
        return "optimizers", passes(moved / 7, OPTIMIZER_PASSES[name.split()[1]])
    if word in ("add_", "gelu", "sum"):
        return "elementwise and sums", max(LAUNCH["other"], passes(moved))
    if name.startswith(("to card", "to host")):
        return "copies over the bus", bus(name.rpartition(" ")[0], moved)
    if word in PASSES:
        return "other kernels", passes(moved, PASSES[word])
    if name.startswith("on the card"):
        return "copies on the card", max(LAUNCH["other"], passes(moved))
    return None


def main() -> None:
    paths = [word for word in sys.argv[1:] if word != "-v"]
    rows = [json.loads(line) for line in Path(paths[0] if paths else RECORDING).read_text().splitlines()]
    errors: dict[str, list[float]] = {}
    for row in rows:
        if "flops" not in row or (rule := predicted(row["name"], row["flops"], row["bytes"])) is None:
            continue
        kind, time = rule
        errors.setdefault(kind, []).append(100 * (time / row["us"] - 1))
        if "-v" in sys.argv:
            print(f"{row['name']:48}{row['us']:12.2f}{time:12.2f}{errors[kind][-1]:+8.1f} %")
    for kind, found in errors.items():
        sizes = sorted(map(abs, found))
        within = sum(size <= 20 for size in sizes)
        print(f"{kind:24}{len(found):4}  median {statistics.median(sizes):5.1f} %  largest {sizes[-1]:5.1f} %", end="")
        print(f"  within 20 %: {within}")


if __name__ == "__main__":
    main()
