# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Each collective over small values: NCCL on the card, with "gloo" on the host, with "gloo card" gloo on the card."""

import sys
from collections.abc import Callable

import torch
import torch.distributed as dist
from job_end import end

dist.init_process_group("cpu:gloo,cuda:nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank % torch.cuda.device_count())
device = "cpu" if "gloo" in sys.argv and "card" not in sys.argv else "cuda"
group = dist.new_group(backend="gloo" if "gloo" in sys.argv else "nccl")
got: dict[str, object] = {}


def whole(*values: int) -> torch.Tensor:
    return torch.tensor(values, device=device)


def named(name: str) -> Callable[[Callable[[], object]], None]:
    def run(exchange: Callable[[], object]) -> None:
        got[name] = exchange()

    return run


@named("all_reduce")
def all_reduce() -> object:
    summed = whole(rank + 1)
    dist.all_reduce(summed, group=group)
    return summed.item()


@named("all_reduce_max")
def all_reduce_max() -> object:
    largest = whole(rank + 1)
    dist.all_reduce(largest, op=dist.ReduceOp.MAX, group=group)
    return largest.item()


@named("all_gather")
def all_gather() -> object:
    parts = whole(*[0] * world)
    dist.all_gather_into_tensor(parts, whole(rank), group=group)
    return parts.tolist()


@named("reduce_scatter")
def reduce_scatter() -> object:
    own = whole(0)
    dist.reduce_scatter_tensor(own, whole(*range(world)), group=group)
    return own.item()


@named("all_to_all")
def all_to_all() -> object:
    swapped = whole(*[0] * world)
    dist.all_to_all_single(swapped, whole(*[100 * rank + other for other in range(world)]), group=group)
    return swapped.tolist()


@named("all_to_all_list")
def all_to_all_list() -> object:
    swapped = [whole(0) for _ in range(world)]
    dist.all_to_all(swapped, [whole(100 * rank + other) for other in range(world)], group=group)
    return [one.item() for one in swapped]


@named("broadcast")
def broadcast() -> object:
    told = whole(rank)
    dist.broadcast(told, src=3, group=group)
    return told.item()


@named("sent")
def sent() -> object:
    received = torch.tensor([-1], device="cpu" if "gloo" in sys.argv else "cuda")  # gloo sends from the host only
    if rank == 0:
        dist.send(torch.full_like(received, 42), 3, group=group)
        dist.send(torch.full_like(received, 42), 1, group=group)  # to nobody
    elif rank == 3:
        dist.recv(received, 0, group=group)
    return received.item()


@named("gather_object")
def gather_object() -> object:
    told = [""] * world if rank == 0 else None
    dist.gather_object("a" * (rank + 1), told, dst=0, group=group)
    return told


@named("broadcast_object_list")
def broadcast_object_list() -> object:
    told = [f"by {rank}"]
    dist.broadcast_object_list(told, src=0, group=group)
    return told


@named("scatter_object_list")
def scatter_object_list() -> object:
    told: list[object] = [None]
    dist.scatter_object_list(
        told, [f"for {other}" for other in range(world)] if rank == 0 else None, src=0, group=group
    )
    return told


dist.barrier(group=group)
if "gloo" in sys.argv:
    dist.monitored_barrier(group=group)
end(**got)
