# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Captures all CUDA graphs into the memory pool of the first one, unless the program gives them a pool itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace._changes._change import Change
from memtrace._changes._program_line import program_line
from memtrace._session import Session


def watch(torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from now on. Graphs must be replayed in the order of their capture, as torch's documentation says."""
    graph_class = torch.cuda.CUDAGraph
    graph_class.capture_begin = _sharing(torch, graph_class.capture_begin, change)


def _sharing(torch: ModuleType, original: Callable[..., None], change: Change) -> Callable[..., None]:
    pools: dict[int, Any] = {}  # of the first graph on each card

    @functools.wraps(original)
    def capture_begin(graph: Any, pool: Any = None, **options: object) -> None:
        card = torch.cuda.current_device()
        if pool is None and card in pools:
            change.found(1, "CUDAGraph", program_line())
            change.made(not change.only_looks)
            pool = None if change.only_looks else pools[card]
        original(graph, *(() if pool is None else (pool,)), **options)
        pools.setdefault(card, graph.pool())

    return capture_begin
