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
from memtrace._patching import patches
from memtrace._process.session import Session


def watch(torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from now on. Graphs must be replayed in the order of their capture, as torch's documentation says."""
    graph_class = torch.cuda.CUDAGraph
    patches.put(
        graph_class,
        "capture_begin",
        _sharing(torch, graph_class.capture_begin, change),
        "torch.cuda.CUDAGraph.capture_begin: gives graphs the pool of the first one, for the change graph_pool",
    )


def _sharing(torch: ModuleType, original: Callable[..., None], change: Change) -> Callable[..., None]:
    pools: dict[int, Any] = {}  # by card; the first graph there begins it

    @functools.wraps(original)
    def capture_begin(graph: Any, pool: Any = None, **options: object) -> None:
        card = torch.cuda.current_device()
        if pool is None and card in pools:
            change.found_and_made("CUDAGraph", program_line())
        shared = pools.setdefault(card, torch.cuda.graph_pool_handle())
        given = shared if pool is None and not change.only_looks else pool
        original(graph, *(() if given is None else (given,)), **options)

    return capture_begin
