# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Each change of a trial affects the peak, counts its places, and changes nothing where it does not apply."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from memtrace import _changes
from support.events import annotations
from support.fit_changes import changed as found
from support.fit_changes import changed_places
from support.programs import ROOT, Finished, on_card

# Prints the bytes of parameters and states, the peak, and all else that a script puts into `said`.
GPT2 = """
import inspect, json, torch
from transformers import GPT2Config, GPT2LMHeadModel
said = {}
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=6, n_head=4, vocab_size=2000))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
tokens = torch.randint(2000, (4, 256), device="cuda")
for _ in range(2):
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
BLOCKS = """
import inspect, json, torch
from torch import nn
said = {}
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512), nn.BatchNorm1d(512))
    def forward(self, x):
        return x + self.inner(x)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(6)])
    def forward(self, x, *, scale):
        for block in self.blocks:
            x = block(x)
        return x * scale["by"][0]
model, critic = Model().cuda(), nn.Linear(512, 512).cuda()
optimizer = torch.optim.AdamW([{"params": (p for p in model.parameters())}], lr=1e-4)
x, target = torch.randn(4096, 512, device="cuda"), torch.randn(4096, 512, device="cuda")
for _ in range(2):
    y = critic(model(x, scale={"by": [torch.ones(1, device="cuda")]}))
    (nn.functional.mse_loss(y, target) + nn.HuberLoss()(y, target)).backward()
    optimizer.step()
    optimizer.zero_grad()
    del y
"""
TELL = """
states = [t.nbytes for state in optimizer.state.values() for t in state.values() if isinstance(t, torch.Tensor)]
said |= {"parameters": sum(p.nbytes for p in model.parameters()), "states": sum(states),
         "peak": torch.cuda.max_memory_allocated()}
print(json.dumps(said))
"""


def changed(script: str, folder: Path, change: str = "", more: str = "", **options) -> tuple[dict, int]:
    """Returns the program's output, and the number of places where the change was made."""
    environment = {"MEMTRACE_FIT_CHANGES": change} if change else {}
    run: Finished = on_card(script + more + TELL, folder, **options, **environment)
    assert "memtrace: " not in run.err, run.err
    counts = {k: json.loads(v)["places"] for k, v in annotations(run.trace).items() if k.startswith("fit.changed.")}
    assert list(counts) == ([f"fit.changed.{change}"] if change else [])
    return run.printed(), next(iter(counts.values()), 0)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory) -> dict:
    return changed(GPT2, tmp_path_factory.mktemp("gpt2"))[0]


@pytest.fixture(scope="module")
def blocks(tmp_path_factory) -> dict:
    return changed(BLOCKS, tmp_path_factory.mktemp("blocks"))[0]


SIGNATURE = """
assert "lr" in inspect.signature(torch.optim.AdamW).parameters and isinstance(optimizer, torch.optim.AdamW)
"""


def test_fused_and_loop_make_no_copy_of_the_states(tmp_path, blocks):
    for change, option, value in (("fused", "fused", True), ("loop", "foreach", False)):
        more = SIGNATURE + f"said['option'] = optimizer.param_groups[0]['{option}']\n"
        said, places = changed(BLOCKS.replace("4096", "64"), tmp_path, change, more)
        assert (places, said["option"]) == (1, value)
        # The peak has parameters, gradients and two states; the foreach update briefly has a fifth copy.
        assert said["peak"] < 4.6 * blocks["parameters"]


def test_explicitly_chosen_optimizer_option_is_kept(tmp_path):
    script = """
import json, torch
said, weight = {}, torch.nn.Parameter(torch.zeros(4, device="cuda"))
model = torch.nn.Linear(2, 2)
class Own(torch.optim.SGD):
    def __init__(self, params, rate):
        super().__init__(params, rate, foreach=False)
kept = torch.optim.Adam([("weight", weight)], foreach=True)
torch.optim.SGD([{"params": [weight], "fused": False}], lr=1)
torch.optim.Adagrad([weight], 0.1, 0, 0, 0, 1e-10, False)
torch.optim.AdamW([torch.nn.Parameter(torch.zeros(2, dtype=torch.complex64))])
torch.optim.Adadelta([weight])
for wrong in (weight, [], [1]):
    try:
        torch.optim.Adam(wrong)
    except (TypeError, ValueError) as error:  # torch's own sentences
        said[str(wrong)[:9]] = str(error)[:18]
optimizer = Own([weight], 0.1)
said["options"] = [optimizer.defaults["fused"], optimizer.defaults["foreach"], kept.defaults["foreach"]]
"""
    said, places = changed(script, tmp_path, "fused")
    # A fused update replaces foreach=False, which is given twice here.
    assert (places, said["options"]) == (2, [True, None, True])
    assert said["Parameter"] == "params argument gi" and said["[]"] == "optimizer got an e"
    assert said["[1]"] == "optimizer can only"


def test_bf16_halves_models_made_on_the_card(tmp_path, gpt2):
    said, places = changed(GPT2, tmp_path, "bf16", "said['count'] = len(list(model.parameters()))\n")
    assert places == said["count"] + 1  # plus the head's own, which the embedding's replaced
    assert said["parameters"] * 2 == gpt2["parameters"]
    assert said["states"] < 0.51 * gpt2["states"] and said["peak"] < 0.6 * gpt2["peak"]


def test_bf16_halves_moved_models_and_keeps_inputs_working(tmp_path, blocks):
    more = """
said["count"] = sum(p.dtype is torch.bfloat16 for m in (model, critic) for p in m.parameters())
said["others"] = str(torch.get_default_dtype()), str(nn.Linear(2, 2).weight.dtype)
assert x.dtype is target.dtype is torch.float32 and model.blocks[0].inner[3].running_mean.dtype is torch.bfloat16
"""
    said, places = changed(BLOCKS, tmp_path, "bf16", more)
    assert places == said["count"] == 6 * 6 + 2
    assert said["parameters"] * 2 == blocks["parameters"] and said["peak"] < 0.65 * blocks["peak"]
    assert said["others"] == ["torch.float32", "torch.float32"]


def test_checkpointing_is_enabled_in_models_that_support_it(tmp_path, gpt2):
    said, places = changed(GPT2, tmp_path, "checkpoint", "assert model.is_gradient_checkpointing\n")
    assert places >= 6
    assert said["peak"] < 0.7 * gpt2["peak"] and said["states"] == gpt2["states"]


def test_checkpointing_wraps_repeated_blocks_of_other_models(tmp_path, blocks):
    said, places = changed(BLOCKS, tmp_path, "checkpoint")
    assert places == 6
    assert said["peak"] < 0.6 * blocks["peak"] and said["states"] == blocks["states"]


def test_unstepped_parameters_are_frozen(tmp_path, blocks):
    more = """
assert not any(p.requires_grad for p in critic.parameters()) and all(p.requires_grad for p in model.parameters())
late = torch.optim.SGD(critic.parameters(), lr=0.1)
assert all(p.requires_grad for p in critic.parameters())
torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
critic(x).sum().backward()
frozen = nn.Linear(512, 512).cuda()
frozen(x).sum()
"""
    said, places = changed(BLOCKS, tmp_path, "freeze", more)
    assert places == 2  # those of `frozen`; those of `critic` were taken back
    critic = 512 * 513 * 4
    assert blocks["peak"] - said["peak"] >= critic


@pytest.fixture(scope="module")
def python_of_frameworks():
    """Returns the Python of the environment with bitsandbytes, peft and accelerate."""
    python = ROOT / ".venv-frameworks/bin/python"
    if not python.exists():
        pytest.skip("no .venv-frameworks; setup/setup.sh frameworks makes it")
    if not version("torch").startswith("2.11"):
        pytest.skip("the frameworks' environment has torch 2.11")
    return python


def test_looking_for_places_changes_nothing(tmp_path, gpt2, python_of_frameworks):
    """The optimizer gets its parameters from a generator, which nobody may read before it."""
    hooks = [name for name in _changes.NAMES if name not in ("balanced", "second_card")]
    run = on_card(
        GPT2 + TELL,
        tmp_path,
        python=python_of_frameworks,
        MEMTRACE_FIT_CHANGES=",".join(f"{hook}=0" for hook in hooks),
        DO_NOT_TRACK="1",
    )
    assert run.printed() == gpt2
    of = {hook: change.of for hook in hooks if (change := found(run.trace, hook)) is not None}
    assert {"adam8bit": 1, "lora": 1, "fused": 1, "checkpoint": 6}.items() <= of.items()
    assert not any(changed_places(run.trace, hook) for hook in hooks)


def test_eight_bit_adam_works_with_bitsandbytes(tmp_path, gpt2, python_of_frameworks):
    more = (
        SIGNATURE
        + """
assert type(optimizer).__name__ == "AdamW8bit" and optimizer.param_groups[0]["weight_decay"] == 0.01
torch.optim.lr_scheduler.StepLR(optimizer, 1).step()
class Own(torch.optim.Adam):
    pass
assert type(Own(model.parameters())) is Own
assert type(torch.optim.Adam(model.parameters(), amsgrad=True)) is torch.optim.Adam
"""
    )
    said, places = changed(GPT2, tmp_path, "adam8bit", more, python=python_of_frameworks, DO_NOT_TRACK="1")
    assert places == 1 and said["states"] < 0.4 * gpt2["states"]


def test_impossible_change_is_counted_without_a_message(tmp_path):
    script = """
import torch
model = torch.nn.Linear(2, 2).cuda()
model(torch.zeros(2, 2).cuda()).sum().backward()
"""
    run = on_card(script, tmp_path, MEMTRACE_FIT_CHANGES="paint=blue,checkpoint")
    assert run.err == "" and changed_places(run.trace, "paint") == changed_places(run.trace, "checkpoint") == 0
