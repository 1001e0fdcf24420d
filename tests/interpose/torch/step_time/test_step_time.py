# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the estimated time of a step with arithmetic from the shapes of real programs."""

import json
import sys

import pytest
from support.events import annotations
from support.programs import ROOT, on_card

TRAINING = """
import torch
half = {"dtype": torch.bfloat16, "device": "cuda"}
model = torch.nn.Linear(4096, 4096, bias=False, **half)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x = torch.zeros(8192, 4096, requires_grad=True, **half)
gradient = torch.zeros(8192, 4096, **half)
for _ in range(3):
    model(x).backward(gradient)
    optimizer.step()
    optimizer.zero_grad()
    x.grad = None
"""

STEP = """
import ctypes, torch
weight = torch.zeros(8, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([weight])
x = torch.zeros(10, 1 << 20, device="cuda")
host = torch.zeros(10, 1 << 20)
pinned = host.pin_memory()
main, side = torch.cuda.current_stream(), torch.cuda.Stream()
def work(): WORK
for _ in range(2):
    weight.grad = torch.zeros_like(weight)
    work()
    optimizer.step()
"""


def facts(script: str, tmp_path, steps: str = "2:2") -> dict[str, str]:
    """Returns the facts about the last step on an H100."""
    environment = {"MEMTRACE_FIT_STEPS": steps} if steps else {}
    run = on_card(script, tmp_path, card="h100-80gb", options=("--allocator", "native"), **environment)
    return {key: value for key, value in annotations(run.trace).items() if key.startswith(("fit.step.", "fit.times."))}


def step(work: str, tmp_path) -> dict[str, str]:
    return facts(STEP.replace("WORK", work), tmp_path)


def card_time(told: dict[str, str]) -> int:
    """Returns the card's microseconds in all phases."""
    return sum(int(value) for key, value in told.items() if key.startswith("fit.step.card_us."))


def test_each_phase_has_the_time_of_its_shapes(tmp_path):
    told = facts(TRAINING, tmp_path, "3:3")
    product = 5 + 2 * 8192 * 4096 * 4096 / 760e6
    update = 2.5 + 8 * 2 * 4096 * 4096 / 2.95e6  # four tensors read and written
    assert int(told["fit.step.card_us.forward"]) == pytest.approx(product, rel=0.01)
    assert int(told["fit.step.card_us.backward"]) == pytest.approx(2 * product, rel=0.01)
    assert int(told["fit.step.card_us.optimizer"]) == pytest.approx(update, rel=0.05)
    assert told["fit.step.host_us.forward"] == "36"
    assert told["fit.step.outside"] == told["fit.step.bus_us"] == "0"
    assert (told["fit.times.source"], told["fit.times.unknown"]) == ("measured", "[]")


def test_pageable_copies_are_awaited_and_what_has_no_rule_is_named_or_counted(tmp_path):
    launch = "ctypes.CDLL('libcuda.so.1').memtrace_card_launch_call(b'mine', None)"
    told = step(f"host.copy_(x); torch.sort(x); [{launch} for _ in range(7)]", tmp_path)
    assert int(told["fit.step.bus_us"]) == pytest.approx(5 + (40 << 20) / 14.5e3, rel=0.01)
    assert json.loads(told["fit.times.unknown"]) == ["aten::sort"]
    assert told["fit.step.outside"] == "7"


def test_pinned_copies_in_a_stream_of_their_own_are_hidden_by_longer_work_of_the_card(tmp_path):
    work = "[x.add_(1) for _ in range(100)]; torch.cuda.set_stream(side); pinned.copy_(x, non_blocking=True)"
    hidden = step(f"{work}; torch.cuda.set_stream(main)", tmp_path)
    assert hidden["fit.step.bus_us"] == "0"


def test_pinned_copies_in_the_stream_that_computes_delay_its_kernels(tmp_path):
    work = "[x.add_(1) for _ in range(100)]"
    without = card_time(step(work, tmp_path))
    delayed = step(f"{work}; pinned.copy_(x, non_blocking=True)", tmp_path)
    assert card_time(delayed) - without == pytest.approx(5 + (40 << 20) / 55e3, rel=0.02)
    assert delayed["fit.step.bus_us"] == "0"


def test_nothing_is_counted_without_a_trial(tmp_path):
    assert facts(STEP.replace("WORK", "pass"), tmp_path, "") == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama_1b.bf16.fused.4x2048", "llama_1b.bf16.checkpointed.4x2048"])
def test_work_of_a_model_is_as_counted_by_hand(name, tmp_path):
    sys.path.insert(0, str(ROOT / "bench"))
    from estimated_steps import PARTS, estimated, seconds_of
    from step_counts import steps

    told = estimated(name, tmp_path)
    for part, counted in zip(PARTS, steps()[name].card(), strict=True):
        assert seconds_of(told, part, "card") * 1e3 == pytest.approx(counted, rel=0.02)
