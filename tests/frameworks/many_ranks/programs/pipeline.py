# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.pipelining over 2 groups of ranks with FSDP2 in each.

Usage: pipeline.py gpipe|1f1b|interleaved|zero_bubble|zbv. The last three give each rank two stages.
"""

import os
import sys

import torch
from job_end import end
from tiny_gpt import TinyGpt, loss_of, tokens
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import (
    PipelineStage,
    Schedule1F1B,
    ScheduleGPipe,
    ScheduleInterleaved1F1B,
    ScheduleInterleavedZeroBubble,
    ScheduleZBVZeroBubble,
)

SCHEDULES = {
    "gpipe": (ScheduleGPipe, 1),
    "1f1b": (Schedule1F1B, 1),
    "interleaved": (ScheduleInterleaved1F1B, 2),
    "zero_bubble": (ScheduleInterleavedZeroBubble, 2),
    "zbv": (ScheduleZBVZeroBubble, 2),
}
PLACES = 2
schedule_of, stages_of_rank = SCHEDULES[sys.argv[1]]
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
mesh = init_device_mesh("cuda", (PLACES, int(os.environ["WORLD_SIZE"]) // PLACES), mesh_dim_names=("pipe", "data"))
place = mesh.get_local_rank("pipe")
count = PLACES * stages_of_rank
numbers = [place] if stages_of_rank == 1 else [place, count - 1 - place if sys.argv[1] == "zbv" else place + PLACES]


def stage(number: int) -> PipelineStage:
    part = TinyGpt(layers=4 // stages_of_rank, has_embedding=number == 0, has_head=number == count - 1).to(device)
    for block in part.blocks:
        fully_shard(block, mesh=mesh["data"])
    fully_shard(part, mesh=mesh["data"], reshard_after_forward=False)
    return PipelineStage(part, number, count, device, group=mesh.get_group("pipe"))


stages = [stage(number) for number in numbers]
schedule = schedule_of(stages if stages_of_rank > 1 else stages[0], n_microbatches=8, loss_fn=loss_of)
optimizer = torch.optim.AdamW([weight for part in stages for weight in part.submod.parameters()], lr=1e-4)
for _ in range(3):
    batch = tokens(batch=16)
    inputs = (batch,) if 0 in numbers else ()
    if count - 1 in numbers:
        schedule.step(*inputs, target=batch, losses=[])
    else:
        schedule.step(*inputs)
    optimizer.step()
    optimizer.zero_grad()
end(stages=numbers)
