# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of `fit --whole-job --also` that raise exceptions of their own, or have no memory."""

import json
from pathlib import Path

import pytest
from support.events import annotations
from support.programs import Finished, on_card

LOOP = """
import torch
from torch.utils.data import DataLoader
model = torch.nn.Linear(256, 256).cuda()
optimizer = torch.optim.AdamW(model.parameters())
def score(model):
    model.eval()
    return {}["label"]
def look(model):
    kept = torch.empty(8 << 20, dtype=torch.uint8, device="cuda")
def ask():
    kept = torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
def multiply():
    raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
for x in DataLoader([torch.zeros(256) for _ in range(64)], batch_size=4):
    model(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
print("was training" if trained else "was not")
""".replace("    model(x", "    trained = model.training\n    model(x")


def run(folder: Path, calls: list[str], *, expect: int = 0) -> Finished:
    told = {"MEMTRACE_FIT_ALSO": json.dumps(calls), "MEMTRACE_FIT_MOMENTS": "job", "MEMTRACE_FIT_STEPS": "1000:1000"}
    return on_card(LOOP, folder, card="1GiB", options=("--allocator", "native"), expect=expect, **told)


def test_call_that_raises_is_a_gap_and_the_job_goes_on(tmp_path: Path) -> None:
    done = run(tmp_path, ["score(model)", "look(model)"])
    assert done.out == "was training\n"  # the call came to eval(), and not to train()
    facts = annotations(done.trace)
    first, second = [row[3] for row in json.loads(facts["fit.moments"])[:2]]
    assert first == {"also": "score(model)", "failed_by_itself": "KeyError at train.py:8"}
    assert second == {"also": "look(model)"}
    gaps = {gap["moment"]: gap["evidence"] for gap in json.loads(facts["fit.gaps"])}
    assert gaps["evaluation"] == "--also 'score(model)' failed by itself (KeyError at train.py:8)."


@pytest.mark.parametrize("call", ["ask()", "multiply()"])
def test_call_without_memory_ends_the_job(tmp_path: Path, call: str) -> None:
    done = run(tmp_path, [call], expect=1)
    assert "OutOfMemoryError" in done.err or "CUBLAS_STATUS_ALLOC_FAILED" in done.err
    (row,) = [row for row in json.loads(annotations(done.trace)["fit.moments"]) if row[0] == "evaluation"]
    assert row[3]["ended_by"] and "failed_by_itself" not in row[3]
