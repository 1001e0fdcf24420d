# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models that only serve are moved away while the program trains; trained models stay, and the program is unchanged."""

import pytest
from support.events import annotations
from support.fit_changes import changed_places
from support.programs import MIB, on_card

# Four models of 16 MiB: one is trained, one is its reference, one is idle, one (say, a tokenizer) runs in front of it.
MODELS = """
import copy, json, torch
from torch import nn
class Model(nn.Module):
    def __init__(self, size=1024):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(size, size, bias=False) for _ in range(4)])
        self.register_buffer("table", torch.ones(8))
    def forward(self, x, extra=None):
        for layer in self.layers:
            x = layer(x).relu()
        return {"out": (x * self.table[0],)}
policy, reference, idle, front = (Model().cuda() for _ in range(4))
reference.requires_grad_(False)
front.requires_grad_(False).eval()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
x = torch.randn(8, 1024, device="cuda")
said = {}
def step():
    seen = front(x)["out"][0]
    y = policy(seen)["out"][0]
    with torch.no_grad():
        target = reference(seen, extra=[seen])["out"][0]
    (y - target).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
STEPS = """
step()
torch.cuda.reset_peak_memory_stats()
step()
said |= {f"peak{card}": torch.cuda.max_memory_allocated(card) for card in range(torch.cuda.device_count())}
said |= {f"now{card}": torch.cuda.memory_allocated(card) for card in range(torch.cuda.device_count())}
"""
SIZE = 16 * MIB
WORKSPACE = 8519680  # cuBLAS's: one for the forward's thread, one for autograd's


def run(script: str, folder, change: str, card: str = "24GiB") -> tuple[dict, dict]:
    """Returns the program's output, and the trace's facts about the change."""
    done = on_card(script + "print(json.dumps(said))\n", folder, card=card, MEMTRACE_FIT_CHANGES=change)
    assert "memtrace: " not in done.err, done.err
    told: dict = annotations(done.trace)
    told["places"] = changed_places(done.trace, change.partition("=")[0])
    return done.printed(), told


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory) -> dict:
    return run(MODELS + STEPS, tmp_path_factory.mktemp("unchanged"), "")[0]


def test_serving_models_wait_in_host_memory(tmp_path, unchanged):
    more = """
assert reference.layers[0].weight.is_cuda and reference.layers[0].weight.shape == (1024, 1024)
assert torch.equal(reference.table.cpu(), torch.ones(8))
"""
    said, told = run(MODELS + STEPS + more, tmp_path, "offload")
    # Beside the policy there is one of the three, and none while the policy's gradients exist.
    assert unchanged["peak0"] >= 5 * SIZE
    assert unchanged["now0"] - said["now0"] == 3 * SIZE
    assert 2 * SIZE <= said["peak0"] < 2 * SIZE + 2 * WORKSPACE + MIB
    assert told["places"] == 3
    # Nobody writes them, so each is copied to the host once. `front` comes back once, and `reference` twice.
    assert int(told["fit.cost.offload_bytes"]) == (1 + 1 + 1 + 1 + 0 + 2) * SIZE


def test_model_that_is_trained_after_all_is_moved_back(tmp_path):
    more = """
idle_optimizer = torch.optim.SGD(idle.parameters(), lr=0.1)  # after it was put away
said["optimizer"] = torch.cuda.memory_allocated()
front.requires_grad_(True)
front(x)["out"][0].sum().backward()
said["graph"] = torch.cuda.memory_allocated()
step()
clone = copy.deepcopy(reference)
said["copied"] = torch.cuda.memory_allocated()
with torch.no_grad():
    for ours, theirs in zip(reference.parameters(), policy.parameters()):
        ours.copy_(theirs)
assert all(p.untyped_storage().nbytes() == p.nbytes for m in (idle, front, reference) for p in m.parameters())
"""
    said, told = run(MODELS + STEPS + more, tmp_path, "offload")
    assert said["optimizer"] - said["now0"] == SIZE
    assert said["graph"] - said["optimizer"] == 2 * SIZE
    assert said["copied"] - said["graph"] == 2 * SIZE + 512  # also `reference` itself; the table
    assert told["places"] == 1


def test_generating_model_is_moved_once_per_call(tmp_path):
    script = """
import json, torch
from transformers import GPT2Config, GPT2LMHeadModel
said = {}
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config(n_embd=512, n_layer=2, n_head=4, vocab_size=2000, eos_token_id=None))
said["model"] = sum(p.nbytes for p in model.parameters() if p.nbytes >= 1 << 16)
torch.ones(4, 4, device="cuda") @ torch.ones(4, 4, device="cuda")  # takes cuBLAS' workspace
before = torch.cuda.memory_allocated()
tokens = torch.ones(1, 4, dtype=torch.long, device="cuda")
for _ in range(2):
    model.generate(tokens, max_new_tokens=5, min_new_tokens=5)
said["freed"] = before - torch.cuda.memory_allocated()
"""
    said, told = run(script, tmp_path, "offload")
    assert told["places"] == 1
    assert int(told["fit.cost.offload_bytes"]) == 2 * said["model"]  # away, and back for the second call
    assert said["freed"] >= said["model"] - 2 * MIB


def test_serving_models_move_to_another_card(tmp_path, unchanged):
    more = """
assert all(p.device.index == 1 for m in (reference, front, idle) for p in m.parameters())
assert all(p.device.index == 0 for p in policy.parameters()) and reference.table.device.index == 1
with torch.no_grad():
    told = {str(reference(x)["out"][0].device), str(reference(x.to("cuda:1"))["out"][0].device)}
    part = str(front.layers[0](x).device)
assert (told, part) == ({"cuda:0"}, "cuda:0"), (told, part)
idle(x)["out"][0].sum().backward()
assert all(p.device == p.grad.device == torch.device("cuda:0") for p in idle.parameters())
step()
"""
    said, told = run(MODELS + STEPS + more, tmp_path, "second_card", card="2x24GiB")
    assert 3 * SIZE <= said["now1"] < 3 * SIZE + WORKSPACE + MIB
    assert unchanged["now0"] - said["now0"] == 3 * SIZE + 3 * 512
    assert unchanged["peak0"] - said["peak0"] >= 3 * SIZE
    assert told["places"] == 2  # without `idle`, which did not stay away


def test_models_stay_without_another_card(tmp_path, unchanged):
    for change in ("second_card", "second_card=cuda:7", "second_card=attic"):
        said, told = run(MODELS + STEPS, tmp_path, change)
        assert told["places"] == 0
        assert said == unchanged
