# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Programs, by name, without optimizer steps: the memory of some grows, that of others only seems to."""

import sys

import torch
from torch import nn

NET = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
BATCH = 1024


def encode() -> None:
    """Keeps twice each output, 1 MiB, in a list of this function."""
    kept = []
    with torch.no_grad():
        for _ in range(10_000):
            x = torch.zeros(BATCH, 1024, device="cuda")
            out = NET(x)
            kept.append(out * 2)


def caches() -> None:
    """Keeps a dict in each iteration with one output, 4 MiB, of each of eight layers."""
    kept = []
    with torch.no_grad():
        for _ in range(10_000):
            x = torch.zeros(BATCH, 1024, device="cuda")
            kept.append({layer: NET[0](x) for layer in range(8)})


def sum_of_losses() -> None:
    """Keeps the graph of each forward: its inputs, its ReLU, its output."""
    running = 0
    for _ in range(10_000):
        x = torch.zeros(BATCH, 1024, device="cuda")
        loss = NET(x).square().mean()
        running = running + loss


def state_handed_on() -> None:
    """Each state has the graph of all before it; the score, which is computed from it last, keeps nothing."""
    cell = nn.GRUCell(1024, 1024).cuda().eval()
    state = torch.zeros(256, 1024, device="cuda")
    for _ in range(10_000):
        x = torch.zeros(256, 1024, device="cuda")
        state = cell(x, state)
        score = state.square().mean() + 1
        score.isnan()


def penalties() -> None:
    """An image, 4 MiB, and its gradient refer to each other. The gradients in the list are new in each iteration."""
    for _ in range(10_000):
        image = torch.zeros(BATCH, 1024, device="cuda", requires_grad=True)
        loss = NET(image).square().sum()
        loss.backward(create_graph=True)
        slopes = [p.grad for p in NET.parameters()]
        image.grad.square().sum().backward()
        NET.zero_grad()
        slopes.clear()


def one_line() -> None:
    """Is a loop of one line."""
    x = torch.zeros(BATCH, 1024, device="cuda")
    losses = []
    for _ in range(10_000): losses.append(NET(x).mean())  # noqa: E701  # fmt: skip


class Meter:
    """Holds the arguments of its method, as a framework does."""

    def __init__(self) -> None:
        self.predictions: list[torch.Tensor] = []

    def update(self, predictions: torch.Tensor) -> None:
        self.predictions.append(predictions.float() + 1)


def evaluate() -> None:
    """The line that keeps memory is in a method; every 7th iteration does something else."""
    meter = Meter()
    with torch.no_grad():
        for number in range(10_000):
            predictions = NET(torch.zeros(BATCH, 1024, device="cuda"))
            meter.update(predictions)
            if number % 7 == 0:
                torch.zeros(1 << 20, device="cuda").sum()


def cat() -> None:
    """Makes one tensor larger and larger."""
    seen = torch.zeros(0, 256, device="cuda")
    with torch.no_grad():
        for _ in range(10_000):
            x = torch.zeros(BATCH, 1024, device="cuda")
            seen = torch.cat([seen, NET(x)])


def without_modules() -> None:
    """Calls no module; a list keeps the results."""
    weight = torch.zeros(1024, 256, device="cuda")
    kept = []
    for _ in range(10_000):
        x = torch.zeros(BATCH, 1024, device="cuda")
        kept.append(x @ weight)


def averages() -> None:
    """The means lie in blocks of 1 MiB, which hold all squared errors, and have graphs of 2 MiB."""
    means = []
    for _ in range(10_000):
        x = torch.zeros(BATCH, 1024, device="cuda")
        means.append(nn.functional.mse_loss(NET(x), torch.zeros(BATCH, 256, device="cuda")))


def averages_detached() -> None:
    """Keeps the blocks without graphs."""
    means = []
    for _ in range(10_000):
        x = torch.zeros(BATCH, 1024, device="cuda")
        means.append(nn.functional.mse_loss(NET(x), torch.zeros(BATCH, 256, device="cuda")).detach())


def averages_as_numbers() -> None:
    """Keeps nothing."""
    means = []
    for _ in range(200):
        x = torch.zeros(BATCH, 1024, device="cuda")
        means.append(nn.functional.mse_loss(NET(x), torch.zeros(BATCH, 256, device="cuda")).item())


def pair_handed_on() -> None:
    """Both parts of the state have the graph of all before them; each iteration has a backward."""
    cell = nn.LSTMCell(1024, 1024).cuda()
    hidden = (torch.zeros(256, 1024, device="cuda"), torch.zeros(256, 1024, device="cuda"))
    for _ in range(10_000):
        hidden = cell(torch.zeros(256, 1024, device="cuda"), hidden)
        hidden[0].sum().backward(retain_graph=True)
        cell.zero_grad()


def heads() -> None:
    """Adds a module, 4 MiB, for each task; none is released."""
    heads = nn.ModuleList()
    with torch.no_grad():
        for _ in range(10_000):
            heads.append(nn.Linear(1024, 1024).cuda())
            heads[-1](torch.zeros(BATCH, 1024, device="cuda"))


def micro_batches() -> None:
    """Appends outputs with their graphs; backward frees the tensors that the graphs saved."""
    outputs = []
    for _ in range(10_000):
        x = torch.zeros(BATCH, 1024, device="cuda")
        out = NET(x)
        out.mean().backward()
        outputs.append(out)


def load() -> None:
    """Fills a dict that is needed: the loop does nothing that the program could omit."""
    weights = {}
    for number in range(10_000):
        host = torch.zeros(BATCH, 256)
        weights[f"layer.{number}"] = host.to("cuda")


class Deep(nn.Module):
    """Calls its layers in a loop of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(1000):
            for layer in self.layers:
                x = layer(x)
                x = x.relu()
        return x


def deep() -> None:
    """Runs out of memory in its first forward."""
    net = Deep().cuda()
    x = torch.zeros(BATCH, 1024, device="cuda")
    net(x).sum().backward()


def epochs() -> None:
    """Releases all outputs after each epoch; the last epoch is too long for the card."""
    with torch.no_grad():
        for epoch in range(6):
            outputs = []
            for _ in range(400 if epoch < 5 else 10_000):
                x = torch.zeros(BATCH, 1024, device="cuda")
                outputs.append(NET(x) * 2)
            del outputs[:]


def adam() -> None:
    """Runs out of memory in its first update, which one line makes for many parameters."""
    net = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(40)]).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(3):
        net(torch.zeros(8, 1024, device="cuda")).sum().backward()
        optimizer.step()


def outputs_of_deleted() -> None:
    """Deletes each model, but keeps its output, whose graph holds the parameters."""
    outputs = []
    for _ in range(9):
        net = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)]).cuda()
        outputs.append(net(torch.zeros(8, 2048, device="cuda")))
        del net


def parameters_of_deleted() -> None:
    """Deletes each model, but keeps its parameters: no graph holds them."""
    kept = []
    for _ in range(9):
        net = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)]).cuda()
        kept.append(list(net.parameters()))
        del net


if __name__ == "__main__":
    globals()[sys.argv[1]]()
