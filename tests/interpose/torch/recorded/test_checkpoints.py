# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Roles of loaded memory, of gathered memory, and of models that are never called."""

from collections import Counter
from pathlib import Path

from support.events import Block, blocks
from support.programs import on_card

MODEL = """
import torch
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(64, 256, bias=False), torch.nn.Linear(256, 64, bias=False)
    def forward(self, x):
        return self.down(self.up(x))
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Block() for _ in range(2))
        self.head = torch.nn.Linear(64, 1000, bias=False)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
"""
PARAMETERS = 4 * (4 * 64 * 256 + 64 * 1000)  # bytes


def living(trace: Path) -> Counter[str]:
    """Returns the requested bytes at the end of the run, by stated role."""
    sums: Counter[str] = Counter()
    for block in blocks(trace):
        if block.freed_as == float("inf"):
            sums.update(block.bytes_by_role())
    return sums


def large(trace: Path) -> list[Block]:
    return [block for block in blocks(trace) if block.bytes >= 4 * 64 * 256]


def test_loaded_checkpoint_and_optimizer_states_have_their_roles(tmp_path: Path) -> None:
    script = (
        MODEL
        + """
model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(1, 64, device="cuda")).sum().backward()
optimizer.step()
optimizer.zero_grad()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "file.pt")
del model, optimizer
model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
checkpoint = torch.load("file.pt", map_location="cuda")
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
"""
    )
    run = on_card(script.replace("file.pt", str(tmp_path / "file.pt")), tmp_path)
    found = living(run.trace)
    assert found["parameter"] == PARAMETERS
    assert found["checkpoint"] == PARAMETERS
    assert found["optimizer_state"] == 2 * PARAMETERS + 5 * 4  # plus each parameter's number of steps
    rows = run.report("--at", "end")["holdings"]
    assert sum(row["bytes"] for row in rows if row["role"] == "checkpoint") == PARAMETERS


def test_checkpoint_tensors_assigned_to_a_model_are_parameters(tmp_path: Path) -> None:
    script = (
        MODEL
        + """
torch.save(Model().state_dict(), "file.pt")
with torch.device("meta"):
    model = Model()
model.load_state_dict(torch.load("file.pt", map_location="cuda"), assign=True)
"""
    )
    run = on_card(script.replace("file.pt", str(tmp_path / "file.pt")), tmp_path)
    assert living(run.trace) == {"parameter": PARAMETERS}


def test_uncalled_model_has_the_paths_of_its_parts(tmp_path: Path) -> None:
    run = on_card(MODEL + "with torch.device('cuda'):\n    model = Model()\n", tmp_path)
    paths = {block.labels[-1]["path"] for block in large(run.trace)}
    assert paths == {
        *(f"layers.{layer}.{part}.weight" for layer in range(2) for part in ("up", "down")),
        "head.weight",
    }


def test_deleted_model_had_the_paths_of_its_parts_after_eval(tmp_path: Path) -> None:
    script = (
        MODEL
        + """
with torch.device("cuda"):
    model = Model().eval()
del model
"""
    )
    run = on_card(script, tmp_path)
    assert "layers.1.up.weight" in {block.labels[-1]["path"] for block in large(run.trace)}


def test_scales_of_a_quantized_weight_belong_to_it(tmp_path: Path) -> None:
    """The scales are in an object beside the parameter, as in bitsandbytes."""
    script = (
        MODEL
        + """
class State:
    def __init__(self):
        self.absmax = torch.zeros(100000, device="cuda")
        self.state2 = None
with torch.device("cuda"):
    model = Model()
model.head.weight.quant_state = State()
"""
    )
    run = on_card(script, tmp_path)
    labels = [block.labels[-1] for block in blocks(run.trace) if block.bytes == 400000]
    assert [(label["role"], label["path"]) for label in labels] == [("buffer", "head.weight")]
