# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the program's phases, steps and micro-batches at each allocation without its help."""

import pytest
from support.events import blocks
from support.programs import MIB, on_card

MODEL = """
import memtrace, torch

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)).cuda()
x = torch.zeros(8, 64, device="cuda")

def mark(mib):
    torch.empty((mib << 20) + 3, dtype=torch.uint8, device="cuda")  # a size like no other
"""


def marks(run):
    """Returns the step, phase and micro-batch in which each marked block was allocated, by its number of MiB."""
    marked = [block for block in blocks(run.trace) if block.bytes & (MIB - 1) == 3]
    return {block.bytes >> 20: (block.step, block.phase, block.micro_batch) for block in marked}


def test_gradient_accumulation_has_micro_batches(tmp_path):
    script = """
model[1].register_forward_hook(lambda *_: mark(next(number)))
number = iter(range(1, 100))
optimizer = torch.optim.SGD(model.parameters())
for step in range(2):
    for micro_batch in range(3):
        model(x).sum().backward()
    optimizer.step()
with torch.no_grad():
    model(x)
"""
    expected = {1 + 3 * s + m: (s + 1, "forward", m + 1) for s in range(2) for m in range(3)}
    assert marks(on_card(MODEL + script, tmp_path)) == expected | {7: (3, "evaluate", 0)}


def test_stated_steps_restart_micro_batches(tmp_path):
    script = """
for step in range(2):
    for micro_batch in range(2):
        loss = model(x).sum()
        mark(1 + 2 * step + micro_batch)
        loss.backward()
    memtrace.step()
"""
    expected = {1: (1, "forward", 1), 2: (1, "forward", 2), 3: (2, "forward", 1), 4: (2, "forward", 2)}
    assert marks(on_card(MODEL + script, tmp_path)) == expected


def test_optimizer_step_within_a_backward_keeps_the_phase(tmp_path):
    script = """
for parameter in model.parameters():
    optimizer = torch.optim.SGD([parameter], momentum=0.9)
    def step(parameter, optimizer=optimizer):
        optimizer.step()
        optimizer.zero_grad()
        mark(1)
    parameter.register_post_accumulate_grad_hook(step)
for _ in range(3):
    model(x).sum().backward()
mark(2)
"""
    run = on_card(MODEL + script, tmp_path)
    assert marks(run) == {1: (3, "backward", 1), 2: (4, "other", 0)}
    gradients = [block for block in blocks(run.trace) if block.role == "gradient"]
    assert sum(block.bytes for block in gradients) == 3 * 2 * (64 * 64 + 64) * 4


def test_unknown_recomputation_is_recognised_by_its_modules(tmp_path):
    script = """
class Again(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        with torch.no_grad():
            return model(x)

    @staticmethod
    def backward(context, gradient):
        mark(1)
        x = context.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = model(x)
        mark(3)
        torch.autograd.backward(y, gradient)
        return x.grad

hook = model[1].register_forward_hook(lambda *_: mark(2))
Again.apply(x.requires_grad_()).sum().backward()
"""
    found = marks(on_card(MODEL + script, tmp_path))
    assert {number: phase for number, (_, phase, _) in found.items()} == {2: "recompute", 1: "backward", 3: "backward"}


def test_generate_is_a_phase_and_its_caches_have_a_role(tmp_path):
    script = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=100, n_positions=64, bos_token_id=0, eos_token_id=None)
model = GPT2LMHeadModel(config).cuda()
tokens = torch.zeros(2, 8, dtype=torch.long, device="cuda")
made = model.generate(tokens, max_new_tokens=4, do_sample=False, pad_token_id=0)
with torch.no_grad():
    model(tokens, use_cache=False)
"""
    born = blocks(on_card(script, tmp_path).trace)
    caches = [block for block in born if block.role == "kv_cache"]
    assert {block.phase for block in caches} == {"generate"}
    # Keys and values of 2 layers, after the prompt of 8 tokens and after each of the 3 tokens that are fed back.
    assert sum(block.bytes for block in caches) == 2 * 2 * sum(2 * 64 * 4 * length for length in (8, 9, 10, 11))
    assert {block.phase for block in born if block.module} == {"generate", "evaluate"}


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("vllm.worker.cache_engine", "CacheEngine._allocate_kv_cache"),
        ("vllm.v1.worker.gpu_model_runner", "GPUModelRunner._allocate_kv_cache_tensors"),
        ("sglang.srt.mem_cache.memory_pool", "MHATokenToKVPool._create_buffers"),
    ],
)
def test_caches_of_servers_are_kv_caches(tmp_path, module, function):
    """No server is installed, so classes of the same names stand in for them."""
    *folders, name = module.split(".")
    owner, method = function.split(".")
    package = tmp_path.joinpath(*folders)
    package.mkdir(parents=True)
    for depth in range(len(folders)):
        tmp_path.joinpath(*folders[: depth + 1], "__init__.py").write_text("")
    source = f"""
import torch
class {owner}:
    def {method}(self, layers):
        return [torch.zeros(1 << 20, device="cuda") for _ in range(layers)]
"""
    (package / f"{name}.py").write_text(source)
    script = f"""
import torch
from {module} import {owner}
kept = {owner}().{method}(3)
other = torch.zeros(1 << 20, device="cuda")
"""
    born = blocks(on_card(script, tmp_path, PYTHONPATH=str(tmp_path)).trace)
    assert [block.role for block in born if block.bytes == 4 * MIB] == ["kv_cache"] * 3 + [""]
