# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Captured graphs whose memory another graph uses in turns, or sleeps: what their replays need."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_uint32, c_uint64, sizeof
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

from memtrace._asleep.refusals import check_allocator
from memtrace._core.package import CORE_LIBRARY
from memtrace._patching import patches
from memtrace._start.off import is_off
from memtrace._text.messages import translated

if TYPE_CHECKING:
    import torch

PoolId = tuple[int, int]
_LONGEST_NAME = 1024


class _Refusal(IntEnum):
    """`enum memtrace_turns_refusal`."""

    NONE = 0
    TOO_FEW = 1
    CAPTURE = 2
    BY_DRIVER = 3


class _Obstacle(IntEnum):
    """`enum memtrace_replay`."""

    NONE = 0
    ASLEEP = 1
    LOST = 2


class _PoolStruct(Structure):
    """`struct memtrace_pool`."""

    _fields_ = (("first", c_uint64), ("second", c_uint64))


class _TurnsStruct(Structure):
    """`struct memtrace_turns`."""

    _fields_ = (
        ("size", c_uint32),
        ("refusal", c_int32),
        ("saved", c_uint64),
        ("has_lost_memory", c_int32),
        ("reserved", c_uint32),
    )


class _Core:
    """Typed access to the functions of interpose/core/memtrace_pools.h about replays."""

    def __init__(self) -> None:
        library = ctypes.CDLL(str(CORE_LIBRARY))
        self._take_turns = library.memtrace_take_turns
        self._take_turns.argtypes = (POINTER(_PoolStruct), c_uint64, POINTER(_TurnsStruct))
        self._obstacle = library.memtrace_replay_obstacle
        self._obstacle.argtypes = (POINTER(_PoolStruct), c_char_p, c_uint64)
        self._last_error = library.memtrace_last_error
        self._last_error.argtypes, self._last_error.restype = (), c_char_p
        self.has_asleep = library.memtrace_has_asleep
        self.has_asleep.argtypes, self.has_asleep.restype = (), c_int

    def take_turns(self, pools: list[PoolId]) -> _TurnsStruct:
        turns = _TurnsStruct(size=sizeof(_TurnsStruct))
        structs = (_PoolStruct * len(pools))(*(_PoolStruct(*pool) for pool in pools))
        if self._take_turns(structs, len(pools), ctypes.byref(turns)) != 0 and turns.refusal == _Refusal.NONE:
            turns.refusal = _Refusal.BY_DRIVER
        return turns

    def obstacle(self, pool: PoolId) -> tuple[_Obstacle, str]:
        name = ctypes.create_string_buffer(_LONGEST_NAME)
        found = _Obstacle(self._obstacle(ctypes.byref(_PoolStruct(*pool)), name, len(name)))
        return found, name.value.decode(errors="replace")

    def last_error(self) -> str:
        return bytes(self._last_error()).decode(errors="replace")


@cache
def _core() -> _Core:
    return _Core()


class _Group:
    """Graphs of which only one runs at a time: each replay waits for the one before, on the card."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._ends: dict[torch.device, torch.cuda.Event] = {}  # of the last replay, by card

    def replay(self, graph: torch.cuda.CUDAGraph, original: Callable[[torch.cuda.CUDAGraph], object]) -> None:
        import torch

        with self._lock:
            stream = torch.cuda.current_stream()
            end = self._ends.get(stream.device)
            if end is None:
                end = self._ends[stream.device] = torch.cuda.Event()
            else:
                stream.wait_event(end)
            original(graph)
            end.record(stream)


_groups: dict[PoolId, _Group] = {}
_lost: set[PoolId] = set()
_is_watching = False
_lock = threading.Lock()


def graphs_take_turns(*graphs: torch.cuda.CUDAGraph) -> int:
    """Lets captured graphs that never run at the same time share the memory of their intermediate values.

    Each graph's private pool keeps memory for values that only its own replay uses. After this call the pools have
    that memory in common, and the rest goes back to the card. What tensors of the program hold, such as inputs and
    outputs, stays apart. From now on `torch.cuda.CUDAGraph.replay` makes each of these graphs, and every other graph of
    their pools, wait on the card until the one before has ended, also across streams.

    A value of a capture whose tensor the program has deleted may be overwritten by a graph of another pool. So if one
    graph leaves such values to another of its own pool, as the forward graph of `torch.cuda.make_graphed_callables`
    does to the backward graph, no graph of another pool may run between the two.

    Call it after the captures. Capturing with one pool (`torch.cuda.graph(..., pool=...)`) saves as much, but then
    outputs of one graph may be overwritten by the replay of another.

    Thread rule: any thread. No graph of these pools may be replayed during the call.

    Args:
        graphs: Two or more captured graphs. Those of one pool share their memory already.

    Returns:
        The bytes that went back to the card. With `MEMTRACE=0`, 0.

    Raises:
        ValueError: If there are fewer than two pools.
        RuntimeError: If a graph is not captured yet, a graph is being captured, memtrace's allocator does not serve the
            process, or the driver fails. Unless the sentence says otherwise, nothing has changed.

    Example:
        >>> import memtrace, torch
        >>> def capture(value):
        ...     graph = torch.cuda.CUDAGraph()
        ...     with torch.cuda.graph(graph):
        ...         total = torch.full((64 << 20,), value, device="cuda").sum()
        ...     return graph, total
        >>> (first, one), (second, two) = capture(1.0), capture(2.0)
        >>> memtrace.graphs_take_turns(first, second) > 200 << 20
        True
        >>> first.replay(), second.replay()
        (None, None)
    """
    if is_off():
        return 0
    check_allocator("graphs_take_turns")
    pools = list(dict.fromkeys(_pool_of(graph) for graph in graphs))
    if len(pools) < 2:
        raise ValueError(_too_few())
    watch_replays()
    with _lock:
        groups = {id(group): group for group in map(_groups.get, pools) if group is not None}
        if len(groups) > 1:
            raise ValueError(translated("memtrace.graphs_take_turns: these graphs take turns with others already."))
        turns = _core().take_turns(pools)
        if turns.refusal == _Refusal.NONE:
            group = next(iter(groups.values()), None) or _Group()
            _groups.update(dict.fromkeys(pools, group))
    if turns.has_lost_memory:
        _lost.update(pools)
        raise RuntimeError(
            translated(
                "memtrace.graphs_take_turns: the driver failed, and graphs have lost memory. Capture them again."
            )
        )
    if turns.refusal != _Refusal.NONE:
        raise _refused(turns.refusal)
    return int(turns.saved)


def watch_replays() -> None:
    """Checks each replay from now on, and makes graphs that take turns wait for each other."""
    import torch

    global _is_watching
    with _lock:
        if _is_watching:
            return
        _is_watching = True
    original = torch.cuda.CUDAGraph.replay

    @functools.wraps(original)
    def replay(graph: torch.cuda.CUDAGraph) -> None:
        pool = _pool_if_captured(graph)
        group = None if pool is None else _groups.get(pool)
        if pool is not None and (_lost or _core().has_asleep()):
            _check(pool)
        if group is None:
            original(graph)
        else:
            group.replay(graph, original)

    patches.put(
        torch.cuda.CUDAGraph,
        "replay",
        replay,
        "torch.cuda.CUDAGraph.replay: refuses graphs whose memory sleeps; lets those that share memory take turns",
    )


def _pool_of(graph: torch.cuda.CUDAGraph) -> PoolId:
    pool = _pool_if_captured(graph)
    if pool is None:
        raise RuntimeError(translated("memtrace.graphs_take_turns: a graph is not captured yet."))
    return pool


def _pool_if_captured(graph: torch.cuda.CUDAGraph) -> PoolId | None:
    try:
        first, second = graph.pool()
    except RuntimeError:
        return None
    return first, second


def _check(pool: PoolId) -> None:
    """Raises RuntimeError if a graph of the pool must not be replayed now."""
    obstacle, name = _core().obstacle(pool)
    if obstacle == _Obstacle.ASLEEP:
        raise RuntimeError(
            translated(
                "CUDAGraph.replay: the graph uses memory of '$0', which is asleep. Call memtrace.wake('$0').", name
            )
        )
    if obstacle == _Obstacle.LOST:
        raise RuntimeError(translated("CUDAGraph.replay: the graph has lost memory. Capture it again."))


def _too_few() -> str:
    return translated("memtrace.graphs_take_turns: give graphs of two or more pools.")


def _refused(refusal: int) -> Exception:
    if refusal == _Refusal.TOO_FEW:
        return ValueError(_too_few())
    if refusal == _Refusal.CAPTURE:
        return RuntimeError(translated("memtrace.graphs_take_turns: a graph is being captured. Call it afterwards."))
    return RuntimeError(f"memtrace.graphs_take_turns: {_core().last_error()}")
