# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives over tensors of the host, for gloo groups with virtual ranks.

The backend of such a group is a gloo group of its real ranks (groups.py). The kernels below take the place of torch's
for these operators on the host: they exchange between real ranks and fill in the virtual ones, each with what the
nearest real rank gave.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache, reduce
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from memtrace._patching import patches
from memtrace._virtual_ranks import made_up
from memtrace._virtual_ranks.groups import Group, in_making, of

if TYPE_CHECKING:
    from torch import Tensor
    from torch._C import ScriptObject
    from torch._C._distributed_c10d import BroadcastOptions, ProcessGroup, ReduceOp, ScatterOptions, Work
    from torch.library import Library

    _Tensors = Sequence[Tensor]
    _Done = tuple[_Tensors, ScriptObject]  # what was written, and a work


class _Gloo(Protocol):
    """The methods of torch's gloo backend that are called here, which torch's own types do not have."""

    def allgather(self, outputs: list[list[Tensor]], inputs: list[Tensor], /) -> Work: ...
    def barrier(self) -> Work: ...
    def broadcast(self, tensors: list[Tensor], options: BroadcastOptions, /) -> Work: ...
    def recv(self, tensors: list[Tensor], source: int, tag: int, /) -> Work: ...
    def recv_anysource(self, tensors: list[Tensor], tag: int, /) -> Work: ...
    def scatter(self, outputs: list[Tensor], inputs: list[list[Tensor]], options: ScatterOptions, /) -> Work: ...
    def send(self, tensors: list[Tensor], target: int, tag: int, /) -> Work: ...


def prepare(c10d: ModuleType) -> None:
    """Replaces gloo's group by one of the real ranks only; the first one replaces torch's kernels."""
    if not hasattr(c10d, "ProcessGroupGloo"):
        return

    class GlooOfRealRanks(c10d.ProcessGroupGloo):  # type: ignore[name-defined, misc]
        """The real ranks of the group that is being made."""

        def __init__(self, store: object, rank: int, size: int, *args: object, **kwargs: object) -> None:
            group = in_making()
            if group is not None:
                rank, size = group.ranks.index(rank) or 0, len(group.ranks.real)
                _replace_kernels()
            super().__init__(store, rank, size, *args, **kwargs)

    patches.put(
        c10d,
        "ProcessGroupGloo",
        GlooOfRealRanks,
        "torch.distributed.distributed_c10d.ProcessGroupGloo: connects real ranks only",
    )


@cache
def _replace_kernels() -> Library:
    """Replaces torch's kernels, for the host only. The library is kept, because its end takes the kernels back."""
    import torch
    from torch._C import _distributed_c10d as bindings

    library = torch.library.Library("c10d", "IMPL")
    kernels = _Kernels(torch, bindings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an operator's kernel is replaced
        for name in _OPERATORS:
            library.impl(name, getattr(kernels, name.strip("_")), "CPU")
    return library


_OPERATORS = (
    "_allgather_base_",
    "_reduce_scatter_base_",
    "allgather_",
    "allgather_coalesced_",
    "allgather_into_tensor_coalesced_",
    "allreduce_",
    "allreduce_coalesced_",
    "alltoall_",
    "alltoall_base_",
    "barrier",
    "broadcast_",
    "gather_",
    "monitored_barrier_",
    "recv_",
    "recv_any_source_",
    "reduce_",
    "reduce_scatter_",
    "reduce_scatter_tensor_coalesced_",
    "scatter_",
    "send",
)


class _Exchange:
    """The real ranks of one group, which exchange by gloo."""

    def __init__(self, torch: ModuleType, boxed: ScriptObject) -> None:
        process_group: ProcessGroup = torch.distributed.ProcessGroup.unbox(boxed)
        self._torch = torch
        self.gloo = cast("_Gloo", process_group._get_backend(torch.device("cpu")))
        self.group: Group = of(process_group)
        self.size = self.group.ranks.size

    def all(self, call: str, given: Tensor) -> list[Tensor]:
        """Returns what each rank gives, by rank."""
        ranks = self.group.ranks
        source = given.contiguous()
        parts = [self._torch.empty_like(source) for _ in ranks.real]
        self.gloo.allgather([[_bytes(part) for part in parts]], [_bytes(source)]).wait()
        if not ranks.are_all_real:
            made_up.count(call)
        return [parts[ranks.index(ranks.nearest(rank)) or 0] for rank in range(self.size)]

    def place(self, call: str, rank: int) -> int | None:
        """Returns the place of a rank among the real ones; None, counted, if it is virtual."""
        place = self.group.ranks.index(rank)
        if place is None:
            made_up.count(call)
        return place

    def swap(self, call: str, outputs: _Tensors, inputs: _Tensors) -> None:
        """Each rank gives one of its inputs to each rank. A virtual one sends what the nearest real rank sends."""
        ranks = self.group.ranks
        sent = [inputs[rank].contiguous() for rank in ranks.real]
        taken = [self._torch.empty_like(outputs[rank]).contiguous() for rank in ranks.real]
        for shift in range(len(ranks.real)):
            self._swap_with(shift, sent, taken)
        for rank in range(self.size):
            source = taken[ranks.index(ranks.nearest(rank)) or 0]
            if source.numel() == outputs[rank].numel():
                outputs[rank].copy_(source.view_as(outputs[rank]))
        if not ranks.are_all_real:
            made_up.count(call)

    def _swap_with(self, shift: int, sent: _Tensors, taken: _Tensors) -> None:
        count = len(sent)
        own = self.group.ranks.index(self.group.rank) or 0
        after, before = (own + shift) % count, (own - shift) % count
        if shift == 0:
            taken[own].copy_(sent[own].view_as(taken[own]))
            return
        going = self.gloo.send([sent[after]], after, 0) if sent[after].numel() else None
        if taken[before].numel():
            self.gloo.recv([taken[before]], before, 0).wait()
        if going is not None:
            going.wait()


class _Kernels:
    """The operators, each named as torch's without the underscores around it."""

    def __init__(self, torch: ModuleType, bindings: ModuleType) -> None:
        self._torch = torch
        self._bindings = bindings
        self._done = cache(self._make_done)

    def _make_done(self) -> _Gloo:
        store = self._bindings.HashStore()
        gloo: _Gloo = self._bindings.ProcessGroupGloo(store, 0, 1, timeout=timedelta(minutes=5))
        return gloo

    def _ended(self) -> ScriptObject:
        """Returns a work that has ended."""
        return self._done().barrier().boxed()

    def _exchange(self, process_group: ScriptObject) -> _Exchange:
        return _Exchange(self._torch, process_group)

    def _reduced(self, operation: ScriptObject, parts: list[Tensor]) -> Tensor:
        if not hasattr(operation, "op"):
            raise NotImplementedError(
                f"torch {self._torch.__version__} does not say which operation reduces tensors on the host. "
                "With virtual ranks, reduce on the card or use a newer torch."
            )
        return _combine(self._torch, self._bindings.ReduceOp, operation.op(), parts)

    def broadcast(self, tensors: _Tensors, process_group: ScriptObject, root: int, *_: object) -> _Done:
        exchange = self._exchange(process_group)
        place = exchange.place("gloo broadcast", root)
        if place is None:
            return tensors, self._ended()
        for tensor in tensors:
            options: BroadcastOptions = self._bindings.BroadcastOptions()
            options.rootRank, options.rootTensor = place, 0
            exchange.gloo.broadcast([tensor], options).wait()
        return tensors, self._ended()

    def allreduce(self, tensors: _Tensors, process_group: ScriptObject, operation: ScriptObject, *_: object) -> _Done:
        exchange = self._exchange(process_group)
        for tensor in tensors:
            tensor.copy_(self._reduced(operation, exchange.all("gloo allreduce", tensor)))
        return tensors, self._ended()

    def allreduce_coalesced(
        self, tensors: _Tensors, process_group: ScriptObject, operation: ScriptObject, *_: object
    ) -> ScriptObject:
        return self.allreduce(tensors, process_group, operation)[1]

    def reduce(
        self, tensors: _Tensors, process_group: ScriptObject, operation: ScriptObject, root: int, *_: object
    ) -> ScriptObject:
        exchange = self._exchange(process_group)
        for tensor in tensors:
            result = self._reduced(operation, exchange.all("gloo reduce", tensor))
            if exchange.group.rank == root:
                tensor.copy_(result)
        return self._ended()

    def allgather(
        self, outputs: Sequence[_Tensors], inputs: _Tensors, process_group: ScriptObject, *_: object
    ) -> _Done:
        exchange = self._exchange(process_group)
        for places, given in zip(outputs, inputs, strict=True):
            _copy_all(places, exchange.all("gloo allgather", given))
        return outputs, self._ended()

    def allgather_coalesced(
        self, outputs: Sequence[_Tensors], inputs: _Tensors, process_group: ScriptObject, *_: object
    ) -> ScriptObject:
        exchange = self._exchange(process_group)
        for number, given in enumerate(inputs):
            _copy_all([places[number] for places in outputs], exchange.all("gloo allgather", given))
        return self._ended()

    def allgather_base(
        self, output: Tensor, given: Tensor, process_group: ScriptObject, *_: object
    ) -> tuple[Tensor, ScriptObject]:
        exchange = self._exchange(process_group)
        parts = exchange.all("gloo allgather", given)
        output.copy_(self._torch.cat([part.reshape(-1) for part in parts]).view_as(output))
        return output, self._ended()

    def allgather_into_tensor_coalesced(
        self, outputs: _Tensors, inputs: _Tensors, process_group: ScriptObject, *_: object
    ) -> ScriptObject:
        for output, given in zip(outputs, inputs, strict=True):
            self.allgather_base(output, given, process_group)
        return self._ended()

    def gather(
        self, outputs: Sequence[_Tensors], inputs: _Tensors, process_group: ScriptObject, root: int, *_: object
    ) -> ScriptObject:
        exchange = self._exchange(process_group)
        parts = exchange.all("gloo gather", inputs[0])
        if exchange.group.rank == root:
            _copy_all(outputs[0], parts)
        return self._ended()

    def scatter(
        self, outputs: _Tensors, inputs: Sequence[_Tensors], process_group: ScriptObject, root: int, *_: object
    ) -> _Done:
        exchange = self._exchange(process_group)
        place = exchange.place("gloo scatter", root)
        if place is not None:
            options: ScatterOptions = self._bindings.ScatterOptions()
            options.rootRank = place
            is_root = exchange.group.rank == root
            given = [[inputs[0][rank] for rank in exchange.group.ranks.real]] if is_root else []
            exchange.gloo.scatter([outputs[0]], given, options).wait()
        return outputs, self._ended()

    def reduce_scatter(
        self,
        outputs: _Tensors,
        inputs: Sequence[_Tensors],
        process_group: ScriptObject,
        operation: ScriptObject,
        *_: object,
    ) -> _Done:
        for output, given in zip(outputs, inputs, strict=True):
            whole = self._torch.cat([part.reshape(-1) for part in given])
            self.reduce_scatter_base(output, whole, process_group, operation)
        return outputs, self._ended()

    def reduce_scatter_base(
        self, output: Tensor, given: Tensor, process_group: ScriptObject, operation: ScriptObject, *_: object
    ) -> tuple[Tensor, ScriptObject]:
        exchange = self._exchange(process_group)
        result = self._reduced(operation, exchange.all("gloo reduce_scatter", given)).reshape(-1)
        own = exchange.group.rank * output.numel()
        output.copy_(result[own : own + output.numel()].view_as(output))
        return output, self._ended()

    def reduce_scatter_tensor_coalesced(
        self, outputs: _Tensors, inputs: _Tensors, process_group: ScriptObject, operation: ScriptObject, *_: object
    ) -> ScriptObject:
        for output, given in zip(outputs, inputs, strict=True):
            self.reduce_scatter_base(output, given, process_group, operation)
        return self._ended()

    def alltoall(self, outputs: _Tensors, inputs: _Tensors, process_group: ScriptObject, *_: object) -> _Done:
        self._exchange(process_group).swap("gloo alltoall", outputs, inputs)
        return outputs, self._ended()

    def alltoall_base(
        self,
        output: Tensor,
        given: Tensor,
        process_group: ScriptObject,
        output_sizes: list[int],
        input_sizes: list[int],
        *_: object,
    ) -> ScriptObject:
        exchange = self._exchange(process_group)
        taken = output.split(list(output_sizes) or output.shape[0] // exchange.size)
        sent = given.split(list(input_sizes) or given.shape[0] // exchange.size)
        exchange.swap("gloo alltoall", taken, sent)
        return self._ended()

    def barrier(self, _tensor: Tensor, process_group: ScriptObject, *_: object) -> ScriptObject:
        self._exchange(process_group).gloo.barrier().wait()
        return self._ended()

    def monitored_barrier(self, tensor: Tensor, process_group: ScriptObject, *_: object) -> None:
        self.barrier(tensor, process_group)

    def send(self, tensors: _Tensors, process_group: ScriptObject, peer: int, tag: int) -> ScriptObject:
        exchange = self._exchange(process_group)
        place = exchange.group.ranks.index(peer)
        return self._ended() if place is None else exchange.gloo.send(list(tensors), place, tag).boxed()

    def recv(self, tensors: _Tensors, process_group: ScriptObject, peer: int, tag: int) -> ScriptObject:
        exchange = self._exchange(process_group)
        place = exchange.place("gloo recv", peer)
        return self._ended() if place is None else exchange.gloo.recv(list(tensors), place, tag).boxed()

    def recv_any_source(self, tensors: _Tensors, process_group: ScriptObject, tag: int) -> ScriptObject:
        exchange = self._exchange(process_group)
        if len(exchange.group.ranks.real) == 1:
            raise RuntimeError("A message from any rank is received, but all other ranks of the group are virtual.")
        return exchange.gloo.recv_anysource(list(tensors), tag).boxed()


def _bytes(tensor: Tensor) -> Tensor:
    """Returns the bytes of a contiguous tensor: gloo does not have every type."""
    import torch

    return tensor.reshape(-1).view(torch.uint8)


def _copy_all(places: _Tensors, parts: _Tensors) -> None:
    for place, part in zip(places, parts, strict=True):
        place.copy_(part.view_as(place))


def _combine(
    torch: ModuleType, operations: type[ReduceOp], operation: ReduceOp.RedOpType, parts: list[Tensor]
) -> Tensor:
    """Returns the parts reduced as torch's operation says."""
    if operation == operations.AVG:
        return reduce(torch.add, parts) / len(parts)
    functions: tuple[tuple[ReduceOp.RedOpType, Callable[[Tensor, Tensor], Tensor]], ...] = (
        (operations.SUM, torch.add),
        (operations.PRODUCT, torch.mul),
        (operations.MIN, torch.minimum),
        (operations.MAX, torch.maximum),
        (operations.BAND, torch.bitwise_and),
        (operations.BOR, torch.bitwise_or),
        (operations.BXOR, torch.bitwise_xor),
    )
    for known, function in functions:
        if operation == known:
            return reduce(function, parts)
    raise NotImplementedError(f"memtrace does not compute {operation} over virtual ranks of a gloo group.")
