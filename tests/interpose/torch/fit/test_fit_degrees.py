# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Changes in degrees save more with each degree, count their places, and leave all values as they are."""

from pathlib import Path

import pytest
from support.events import annotations
from support.fit_changes import Changed, changed
from support.programs import Finished, on_card

# Runs changes one after the other in one process: a change of degree 0 does nothing more.
DEGREES = """
import gc, importlib, json, torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM
from memtrace._process.session import current_session
from memtrace._changes._change import Change
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512))
    def forward(self, x):
        return x + self.inner(x)
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        # A list that also has what comes before and after the blocks.
        self.blocks = nn.Sequential(nn.Linear(512, 512), *[Block() for _ in range(6)], nn.Linear(512, 512))
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return {"loss": x.square().mean()}
tokens = torch.randint(2000, (4, 256), device="cuda")
sizes = {"hidden_size": 256, "intermediate_size": 704, "num_hidden_layers": 6, "num_attention_heads": 4}
config = LlamaConfig(**sizes, vocab_size=2000, use_cache=False)
makers = {
    "llama": lambda: (LlamaForCausalLM(config), {"input_ids": tokens, "labels": tokens}),
    "plain": lambda: (Plain(), {"x": torch.randn(8192, 512, device="cuda")}),
}
def peak(make):
    with torch.device("cuda"):
        model, inputs = make()
    model.train()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(2):
        model(**inputs)["loss"].backward()
        model.zero_grad()
    seen = torch.cuda.max_memory_allocated()
    del model
    gc.collect()
    return seen
said = {}
for name, make in makers.items():
    said[name] = {"none": peak(make)}
    for hook in ("checkpoint", "checkpoint_products", "activations_on_host"):
        peaks = []
        for degree in (1, 3, 6):
            change = Change(hook, str(degree))
            importlib.import_module(f"memtrace._changes._{hook}").watch(torch, current_session(), change)
            peaks.append(peak(make))
            told = json.loads(change.facts())
            change.value = "0"
        said[name][hook] = peaks
        said[name]["told"] = told
print(json.dumps(said))
"""


def test_peak_falls_with_each_block(tmp_path):
    said = on_card(DEGREES, tmp_path).printed()
    for of in said.values():
        for hook in ("checkpoint", "checkpoint_products", "activations_on_host"):
            one, three, six = of[hook]
            assert six < three < one < of["none"], (hook, of)
        # Products are kept, so it saves less.
        assert of["checkpoint"][2] < of["checkpoint_products"][2]
    assert said["llama"]["told"] == {"places": 6, "of": 6, "target": "LlamaDecoderLayer", "first": "model.layers.0"}
    assert said["plain"]["told"] == {"places": 6, "of": 6, "target": "Block", "first": "blocks.1"}


ALL = """
import copy, json, torch
from transformers import LlamaConfig, LlamaForCausalLM
sizes = {"hidden_size": 256, "intermediate_size": 704, "num_hidden_layers": 2, "num_attention_heads": 4}
with torch.device("cuda"):
    model, reference = (LlamaForCausalLM(LlamaConfig(**sizes, vocab_size=2000)) for _ in range(2))
other = copy.deepcopy(model)
optimizer = torch.optim.AdamW(list(model.parameters())[:-2])
tokens = torch.randint(2000, (4, 128), device="cuda")
for _ in range(2):
    with torch.no_grad():
        reference(input_ids=tokens)
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
print(json.dumps([torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]))
"""
PLACES = {
    "activations_on_host": 2,
    "bf16": 21,
    "checkpoint": 2,
    "checkpoint_products": 2,
    "freeze": 2,
    "fused": 1,
    "graph_pool": 0,
    "loop": 1,
    "micro": 0,
    "offload": 2,
    "pieces": 1,
    "second_card": 2,
    "set_to_none": 1,
    "share": 2,
    "states_on_host": 1,
}


def test_degree_zero_counts_places_and_changes_nothing(tmp_path):
    unchanged = on_card(ALL, tmp_path).printed()
    run = on_card(ALL, tmp_path, MEMTRACE_FIT_CHANGES=",".join(f"{hook}=0" for hook in PLACES))
    assert "memtrace: " not in run.err and run.printed() == unchanged
    told = {hook: changed(run.trace, hook) for hook in PLACES}
    assert {hook: of and of.places for hook, of in told.items()} == dict.fromkeys(PLACES, 0)
    assert {hook: of and of.of for hook, of in told.items()} == PLACES
    assert told["checkpoint"] == Changed(0, 2, "LlamaDecoderLayer", "model.layers.0")
    assert told["fused"] == Changed(0, 1, "AdamW", f"{tmp_path / 'train.py'}:8")


# Small tensors keep their values on the simulated card, and the host computes what a card would.
VALUES = """
import importlib, json, torch
from torch import nn
for name in ("host_copies", "states_on_host", "offload", "serving"):
    importlib.import_module(f"memtrace._changes._{name}")._LEAST_BYTES = 1
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 4)
    def forward(self, x):
        return x + self.b(self.a(x).tanh())
def train(device):
    torch.manual_seed(0)
    model = nn.Sequential(*[Block() for _ in range(3)]).to(device)
    teacher = nn.Linear(4, 4).requires_grad_(False).to(device)
    x = torch.arange(8.0).reshape(2, 4).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=False)
    for _ in range(2):
        with torch.no_grad():
            target = teacher(x)
        loss = (model(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    loaded = torch.optim.AdamW(model.parameters())
    loaded.load_state_dict(optimizer.state_dict())
    states = [value for state in loaded.state.values() for value in state.values()]
    sums = [sum(value.sum().item() for value in states), sum(p.sum().item() for p in model.parameters())]
    return [round(number, 3) for number in (loss.item(), *sums, teacher.weight.sum().item())]
print(json.dumps([train("cuda"), train("cpu")]))
"""


def test_values_are_those_of_the_unchanged_program(tmp_path):
    hooks = "checkpoint=2,activations_on_host,states_on_host,offload,set_to_none"
    run = on_card(VALUES, tmp_path, MEMTRACE_FIT_CHANGES=hooks)
    on_the_card, on_the_host = run.printed()
    assert on_the_card == on_the_host and all(on_the_host)
    counts = {word.partition("=")[0]: changed(run.trace, word.partition("=")[0]) for word in hooks.split(",")}
    # Two models train; one of them, on the host, has nothing to put away. A block on the host is wrapped all the same.
    assert {hook: of.places for hook, of in counts.items()} == {
        "checkpoint": 2,
        "activations_on_host": 6,
        "states_on_host": 1,
        "offload": 1,
        "set_to_none": 2,
    }
    # The teacher is copied to the host once and comes back once; reading its weight at the end brings that back.
    weight, bias = 4 * 4 * 4, 4 * 4
    assert int(annotations(run.trace)["fit.cost.offload_bytes"]) == 2 * (weight + bias) + weight


STATES_AND_GRAPHS = """
import json, torch
models = [torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.Linear(4096, 1024)).cuda() for _ in range(3)]
x, outputs, graphs = torch.randn(2048, 1024, device="cuda"), [], []
with torch.no_grad():
    for model in models:
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            outputs.append(model(x))
reserved = torch.cuda.memory_reserved()
model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
x, peaks = torch.randn(4096, 1024, device="cuda"), []
for _ in range(3):
    torch.cuda.reset_peak_memory_stats()
    model(x).square().mean().backward()
    peaks.append(torch.cuda.max_memory_allocated())
    optimizer.step()
    optimizer.zero_grad()
states = [value for state in optimizer.state_dict()["state"].values() for value in state.values()]
large = [value for value in states if value.nbytes > 65536]
print(json.dumps({"peak": peaks[-1], "parameters": sum(p.nbytes for p in model.parameters() if p.nbytes > 65536),
                  "on_host": sum(v.nbytes for v in large if v.is_pinned()), "reserved": reserved}))
"""


def test_optimizer_states_wait_in_the_host_and_graphs_share_the_pool_of_the_first(tmp_path):
    unchanged = on_card(STATES_AND_GRAPHS, tmp_path).printed()
    run: Finished = on_card(STATES_AND_GRAPHS, tmp_path, MEMTRACE_FIT_CHANGES="states_on_host,graph_pool")
    said = run.printed()
    assert changed(run.trace, "states_on_host") == Changed(1, 1, "AdamW", "")
    assert unchanged["on_host"] == 0 and said["on_host"] == 2 * said["parameters"]
    assert unchanged["peak"] - said["peak"] == 2 * said["parameters"]
    assert changed(run.trace, "graph_pool") == Changed(2, 2, "CUDAGraph", f"{tmp_path / 'train.py'}:8")
    assert unchanged["reserved"] - said["reserved"] >= 2 * 2048 * 4096 * 4  # the hidden values of two graphs


@pytest.mark.slow
def test_case_d_fits_with_six_of_its_layers_and_not_with_five(tmp_path):
    """The reward model of 7 billion parameters, with 4,096 tokens and a fused update, on a card of 64 GiB."""
    case = Path(__file__).parents[4] / "examples" / "cases" / "reward_model.py"
    words = ("--seq", "4096", "--optimizer", "fused")
    options = ("--allocator", "native")
    for layers, status in ((6, 0), (5, 1)):
        hook = f"checkpoint={layers}"
        run = on_card(case, tmp_path, *words, card="64GiB", options=options, expect=status, MEMTRACE_FIT_CHANGES=hook)
        assert changed(run.trace, "checkpoint") == Changed(layers, 32, "MistralDecoderLayer", "model.layers.0")
