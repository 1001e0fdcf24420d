# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Experts on different ranks, to which an all-to-all sends each token. Usage: expert_parallel.py balanced|worst|routed.

balanced gives each expert as many tokens, as torchtitan's moe_force_load_balance does; worst gives all to the first
experts; routed takes the router's choice.
"""

import os
import sys

import torch
import torch.distributed as dist
from job_end import end
from parts import PARTS, parts
from tiny_gpt import WIDTH, Attention
from torch import nn
from torch.distributed._functional_collectives import all_to_all_single_autograd

EXPERTS, CHOSEN = 8, 2


class Experts(nn.Module):
    """This rank's experts, and the router that all ranks have."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.own = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
            for _ in range(EXPERTS // PARTS)
        )

    def choose(self, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights, chosen = scores.topk(CHOSEN)
        if sys.argv[1] == "balanced":
            chosen = torch.arange(chosen.numel(), device="cuda").view_as(chosen) % EXPERTS
        elif sys.argv[1] == "worst":
            chosen = torch.arange(CHOSEN, device="cuda").expand_as(chosen)
        return weights, chosen.flatten()

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        tokens = given.flatten(0, 1)
        weights, chosen = self.choose(self.router(tokens).softmax(-1))
        counts = torch.bincount(chosen, minlength=EXPERTS)
        counts_here = torch.empty_like(counts)
        dist.all_to_all_single(counts_here, counts, group=group)
        by_rank = (PARTS, len(self.own))
        sent, here = counts.view(by_rank).sum(1).tolist(), counts_here.view(by_rank).sum(1).tolist()
        order = chosen.argsort(stable=True)
        arrived = all_to_all_single_autograd(tokens[order // CHOSEN], here, sent, group)
        results = self.run(arrived, counts_here.view(by_rank))
        back = all_to_all_single_autograd(results, sent, here, group)
        weighted = back * weights.flatten()[order].unsqueeze(-1)
        return torch.zeros_like(tokens).index_add(0, order // CHOSEN, weighted).view_as(given)

    def run(self, arrived: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Returns the results of this rank's experts for tokens that are ordered by sender, then by expert."""
        of_sender = [
            part.split(expert)
            for part, expert in zip(arrived.split(counts.sum(1).tolist()), counts.tolist(), strict=True)
        ]
        done = [expert(torch.cat(parts)) for expert, parts in zip(self.own, zip(*of_sender, strict=True), strict=True)]
        again = [part.split(sizes) for part, sizes in zip(done, counts.T.tolist(), strict=True)]
        return torch.cat([part for parts in zip(*again, strict=True) for part in parts])


torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
group = parts("expert").get_group()
attentions = nn.ModuleList(Attention() for _ in range(2)).cuda()
experts = nn.ModuleList(Experts() for _ in range(2)).cuda()
optimizer = torch.optim.AdamW([*attentions.parameters(), *experts.parameters()], lr=1e-4)
for _ in range(3):
    hidden = torch.randn(4, 128, WIDTH, device="cuda")
    for attention, mixture in zip(attentions, experts, strict=True):
        hidden = hidden + attention(hidden)
        hidden = hidden + mixture(hidden)
    hidden.square().mean().backward()
    for weight in [*attentions.parameters(), *(one.router.weight for one in experts)]:
        dist.all_reduce(weight.grad, op=dist.ReduceOp.AVG)
    optimizer.step()
    optimizer.zero_grad()
end()
