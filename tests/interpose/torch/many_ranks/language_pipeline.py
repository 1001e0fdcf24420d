# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A small language model in a 1F1B pipeline with as many stages as the first argument says, and FSDP2 in each stage."""

import os
import sys

import torch
import torch.distributed as dist
from job_end import end
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

WIDTH, WORDS, LENGTH, BATCHES, LAYERS = 256, 32000, 128, 8, 2


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return given + self.down(torch.relu(self.up(self.norm(given))))


class Stage(nn.Module):
    """The layers of one stage, the embedding of the first, and the output layer of the last."""

    def __init__(self, place: int, stages: int) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(WORDS, WIDTH) if place == 0 else None
        self.layers = nn.ModuleDict({str(place * LAYERS + i): Layer() for i in range(LAYERS)})
        self.norm = nn.LayerNorm(WIDTH) if place == stages - 1 else None
        self.output = nn.Linear(WIDTH, WORDS, bias=False) if place == stages - 1 else None

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        given = self.tok_embeddings(given) if self.tok_embeddings else given
        for layer in self.layers.values():
            given = layer(given)
        given = self.norm(given) if self.norm else given
        return self.output(given) if self.output else given


def loss_of(logits: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, 1), words.flatten(0, 1))


stages = int(sys.argv[1])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (stages, int(os.environ["WORLD_SIZE"]) // stages), mesh_dim_names=("pp", "dp"))
place = mesh.get_local_rank("pp")
model = Stage(place, stages).to(device)
for layer in model.layers.values():
    fully_shard(layer, mesh=mesh["dp"])
fully_shard(model, mesh=mesh["dp"])
schedule = Schedule1F1B(
    PipelineStage(model, place, stages, device, group=mesh.get_group("pp")), n_microbatches=BATCHES, loss_fn=loss_of
)
optimizer = torch.optim.AdamW(model.parameters())
words = torch.randint(WORDS, (BATCHES, LENGTH), device=device)
for _ in range(2):
    if place == 0:
        schedule.step(words)
    elif place == stages - 1:
        schedule.step(target=words, losses=[])
    else:
        schedule.step()
    optimizer.step()
    optimizer.zero_grad()
end(stage=place)
