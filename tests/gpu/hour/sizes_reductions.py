# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sorting, scanning, selecting and scattering: temporary memory of torch's own kernels and of CUB."""

from collections.abc import Callable

import torch

COUNT = 1 << 20


def _values(*shape: int) -> torch.Tensor:
    return torch.randn(*(shape or (COUNT,)), device="cuda")


def _numbers(most: int = 1000) -> torch.Tensor:
    return (torch.arange(COUNT, device="cuda") * 7919) % most


def _index_put() -> object:
    return torch.zeros(1000, 8, device="cuda").index_put_((_numbers(),), _values(COUNT, 8), accumulate=True)


def _scatter() -> object:
    return torch.zeros(1000, device="cuda").scatter_add_(0, _numbers(), _values())


def _deterministic() -> object:
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        return torch.zeros(1000, device="cuda").scatter_add_(0, _numbers(), _values())
    finally:
        torch.use_deterministic_algorithms(False)


PROGRAMS: dict[str, Callable[[], object]] = {
    "sort": lambda: _values().sort(),
    "sort.rows": lambda: _values(1024, 1024).sort(-1),
    "sort.stable": lambda: _numbers().sort(stable=True),
    "argsort": lambda: _values(64, 4096).argsort(-1),
    "topk": lambda: _values(64, 50257).topk(50),
    "topk.long": lambda: _values().topk(100),
    "cumsum": lambda: _values().cumsum(0),
    "cumsum.rows": lambda: _values(64, 4096).cumsum(-1),
    "logcumsumexp": lambda: _values(64, 4096).logcumsumexp(-1),
    "unique": lambda: _numbers().unique(),
    "unique.counts": lambda: _numbers().unique(return_counts=True, return_inverse=True),
    "nonzero": lambda: _numbers(2).nonzero(),
    "masked_select": lambda: _values()[_numbers(2) == 1],
    "kthvalue": lambda: _values(64, 4096).kthvalue(7),
    "median": lambda: _values().median(),
    "mode": lambda: _numbers().view(1024, 1024).mode(-1),
    "histc": lambda: _values().histc(100, -3, 3),
    "bincount": lambda: torch.bincount(_numbers()),
    "multinomial": lambda: torch.multinomial(torch.rand(64, 50257, device="cuda"), 1),
    "multinomial.many": lambda: torch.multinomial(torch.rand(64, 5000, device="cuda"), 10, replacement=True),
    "randperm": lambda: torch.randperm(COUNT, device="cuda"),
    "randperm.short": lambda: torch.randperm(1000, device="cuda"),
    "index_put": _index_put,
    "scatter_add": _scatter,
    "scatter_add.deterministic": _deterministic,
    "repeat_interleave": lambda: torch.repeat_interleave(_numbers(3)),
    "searchsorted": lambda: torch.searchsorted(_values().sort()[0], _values()),
    "sum.long": lambda: _values(1 << 26).sum(),
    "sum.rows": lambda: _values(16, 1 << 20).sum(-1),
    "argmax": lambda: _values(64, 50257).argmax(-1),
    "norm": lambda: _values().norm(),
    "var": lambda: _values(64, 65536).var(-1),
    "cdist": lambda: torch.cdist(_values(500, 64), _values(700, 64)),
    "cat": lambda: torch.cat([_values(100, 64) for _ in range(50)]),
    "to_host": lambda: _values().cpu(),
    "tril": lambda: torch.tril_indices(1000, 1000, device="cuda"),
    "where": lambda: torch.where(_numbers(2) == 1, _values(), 0.0),
    "histogramdd": lambda: torch.quantile(_values(), 0.5),
}
