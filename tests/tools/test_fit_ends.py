# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts of `memtrace fit` on what a trial did not see; each is followed by running the program on that card."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from support.events import annotations
from support.json_object import JsonObject
from support.programs import MEMTRACE

MIB = 2**20


def fit(folder: Path, text: str, *options: str) -> tuple[int, JsonObject]:
    script = folder / "train.py"
    script.write_text(text)
    command = [MEMTRACE, "fit", *options, "--json", "--", sys.executable, script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def failing_step(folder: Path, card: str) -> int:
    """Runs the program to its end on a card; returns the step in which it ran out, 0 if it did not."""
    trace = folder / "whole.trace"
    command = [MEMTRACE, "run", "--card", card, "--allocator", "native", "-o", trace, "--", sys.executable, "train.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    report = subprocess.run([MEMTRACE, "report", "--json", trace], capture_output=True, text=True, check=False)
    trace.unlink()
    return int(json.loads(report.stdout)["request"]["at"]["step"]) if done.returncode != 0 else 0


# A first step of 300 MiB hides that 4 MiB stay in each step.
LEAKING = """
import torch
first = torch.empty(300 << 20, dtype=torch.uint8, device="cuda")
weight = torch.nn.Parameter(torch.ones(1024, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
kept = []
for step in range(STEPS):
    kept.append(torch.empty(4 << 20, dtype=torch.uint8, device="cuda"))
    weight.sum().backward()
    optimizer.step()
    first = None
    torch.cuda.empty_cache()
"""


def test_growth_below_an_earlier_peak_is_followed_to_its_step(tmp_path: Path) -> None:
    options = ("--card", "880MiB", "--steps", "8", "--no-remedies")
    code, found = fit(tmp_path, LEAKING.replace("STEPS", "1000"), *options)
    assert (code, found["verdict"], found["seen"]["rise"]["bytes"]) == (1, "does_not_fit", 4 * MIB)
    assert found["first_failure"]["step"] == failing_step(tmp_path, "880MiB")


# cuBLAS gets no memory for its workspace; its error is of another class, and is passed on as the cause of a third.
CUDA = tuple(int(part) for part in (torch.version.cuda or "0").split("."))
FULL_FOR_A_LIBRARY = """
import torch
kept = torch.empty(500 << 20, dtype=torch.uint8, device="cuda")
factor = torch.ones(256, 256, device="cuda")
try:
    factor @ factor
except RuntimeError as error:
    raise ValueError("The product failed.") from error
"""


# Ends by itself on a small card: it asks for no memory that the card refuses.
PARTICULAR = """
import torch
kept = torch.empty(500 << 20, dtype=torch.uint8, device="cuda")
if torch.cuda.mem_get_info()[0] < 1 << 30:
    raise ValueError("This card is too small for me.")
"""


def fit_on_a_small_card(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(script)
    command = [MEMTRACE, "fit", "--card", "h100-80gb,size=1145MiB", "--no-remedies", "--", sys.executable, "train.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_program_that_ends_only_on_the_card_is_not_said_to_end_by_itself(tmp_path: Path) -> None:
    done = fit_on_a_small_card(PARTICULAR, tmp_path)
    assert done.returncode == 3
    assert "on this card the program ends with exit code 1" in done.stderr and "whatever the card" not in done.stderr


def test_program_that_the_kernel_kills_is_not_said_to_end_by_itself(tmp_path: Path) -> None:
    done = fit_on_a_small_card("import os, torch\ntorch.zeros(1, device='cuda')\nos.kill(os.getpid(), 9)\n", tmp_path)
    assert done.returncode == 3
    assert "the program was killed (exit code 137), as the kernel does when the host's memory is full" in done.stderr


def test_library_that_gets_no_memory_beside_torchs_own_allocator_does_not_fit(tmp_path: Path) -> None:
    done = fit_on_a_small_card(FULL_FOR_A_LIBRARY, tmp_path)
    assert done.returncode == 1
    assert "DOES NOT FIT." in done.stdout and "short" in done.stdout


@pytest.mark.skipif(CUDA >= (13, 2), reason="cublasCreate of CUDA 13.2 gets by with the 8 MiB that are left")
def test_error_of_a_library_that_got_no_memory_is_no_recovery(tmp_path: Path) -> None:
    """Under memtrace's allocator the request of the library is in the trace, as one that failed."""
    all_but_little = "torch.cuda.mem_get_info()[0] - (8 << 20)"
    (tmp_path / "train.py").write_text(FULL_FOR_A_LIBRARY.replace("500 << 20", all_but_little))
    command = [MEMTRACE, "run", "--card", "h100-80gb,size=1145MiB", "-o", "run.trace", "--", sys.executable, "train.py"]
    environment = {**os.environ, "MEMTRACE_FIT_STEPS": "2:8"}
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=300, check=False)
    assert annotations(tmp_path / "run.trace")["fit.went_on"] == "0"
    report = subprocess.run([MEMTRACE, "report", "run.trace"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "in init, in cuBLAS, cublasCreate_v2. The request for " in " ".join(report.stdout.split())


@pytest.mark.slow
def test_growth_that_ends_with_the_program_fits(tmp_path: Path) -> None:
    code, found = fit(tmp_path, LEAKING.replace("STEPS", "90"), "--card", "880MiB", "--steps", "8", "--margin", "0")
    assert (code, found["verdict"], found["seen"]["whole_program"]) == (0, "fits", True)
    assert failing_step(tmp_path, "880MiB") == 0


EVALUATING = """
import torch
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.AdamW(model.parameters())

def evaluate(rows):
    model.eval()
    return model(torch.zeros(rows, 1024, device="cuda"))

for step in range(STEPS):
    model(torch.zeros(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % EVERY == EVERY - 1:
        evaluate(400_000)
"""


def with_steps(steps: int, every: int) -> str:
    return EVALUATING.replace("STEPS", str(steps)).replace("EVERY", str(every))


def test_evaluation_that_was_not_reached_is_named(tmp_path: Path) -> None:
    code, found = fit(tmp_path, with_steps(200, 100), "--card", "1GiB", "--watch", "0")
    assert (code, found["verdict"], found["fits"]) == (6, "not_known", None)
    (gap,) = found["gaps"]
    assert gap["moment"] == "evaluation" and gap["evidence"].startswith("train.py:7 calls eval()")
    assert failing_step(tmp_path, "1GiB") > 3


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "every", "verdict"), [(200, 2, "fits_in_the_steps_seen"), (4, 3, "fits")])
def test_evaluation_that_was_seen_is_no_gap(tmp_path: Path, steps: int, every: int, verdict: str) -> None:
    code, found = fit(tmp_path, with_steps(steps, every), "--card", "8GiB", "--watch", "0", "--steps", "4:8")
    assert (code, found["verdict"], found["gaps"]) == (0, verdict, [])
    assert failing_step(tmp_path, "8GiB") == 0


# A longer sample comes in step 38, and predictions are kept at the end (docs/design/whole-job.md).
LATE = """
import time, torch
from torch import nn
from torch.utils.data import DataLoader
data = [torch.zeros(1024 if i == 37 else 128, dtype=torch.long) for i in range(40)]
model = nn.Sequential(nn.Embedding(1000, 512), *[nn.Linear(512, 512) for _ in range(8)], nn.Linear(512, 32000)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x in DataLoader(data, batch_size=1):
    time.sleep(0.3)
    model(x.cuda()).float().logsumexp(-1).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
kept = torch.cat([model(torch.zeros(64, 128, dtype=torch.long).cuda()) for _ in range(2)])
"""


@pytest.mark.slow
def test_program_that_runs_out_late_is_not_said_to_fit(tmp_path: Path) -> None:
    code, found = fit(tmp_path, LATE, "--card", "1152MiB", "--watch", "3", "--no-remedies", "--batch-order", "as-is")
    assert (code, found["verdict"], found["seen"]["whole_program"]) == (6, "not_known", False)
    assert failing_step(tmp_path, "1152MiB") == 38


@pytest.mark.slow
def test_late_sample_is_run_early_and_does_not_fit(tmp_path: Path) -> None:
    code, found = fit(tmp_path, LATE, "--card", "1152MiB", "--watch", "3", "--no-remedies")
    assert (code, found["verdict"], found["first_failure"]["step"]) == (1, "does_not_fit", 2)
