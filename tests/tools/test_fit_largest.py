# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`fit --largest`: the value that it names runs to its end, and the next one runs out of memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.programs import MEMTRACE

# A row takes 16 MiB of activations.
TRAINING = """
import sys, torch
rows = int(sys.argv[1])
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    model(torch.randn(rows, 4096, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
CARD = ("--card", "800MiB")
# The evaluation takes eight times as many rows as a step, which keeps one tensor for each of its layers.
EVALUATED = """
import sys, torch
from torch.utils.data import DataLoader

rows = int(sys.argv[1])
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader([torch.zeros(4096, 256) for _ in range(4 * rows)], batch_size=rows):
    model(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
with torch.no_grad():
    predictions = model(torch.zeros(8 * rows, 4096, 256, device="cuda"))
"""
SMALL_CARD = ("--card", "600MiB,context=40MiB")


def memtrace(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MEMTRACE, *words], cwd=folder, capture_output=True, text=True, timeout=500, check=False)


def test_largest_value_runs_and_the_next_one_runs_out(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    options = (*CARD, "--largest", "rows", "--watch", "0", "--json")
    done = memtrace(tmp_path, "fit", *options, "--", sys.executable, "train.py", "{rows}")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    largest, fails = found["scalings"][0]["largest"], found["scalings"][0]["fails"]
    assert found["fits"] and fails == largest + 1 and largest > 4
    for rows, status in ((largest, 0), (fails, 1)):
        run = ("run", *CARD, "--allocator", "native", "--no-trace", "--", sys.executable, "train.py", str(rows))
        assert memtrace(tmp_path, *run).returncode == status


@pytest.mark.slow
def test_evaluation_that_limits_the_largest_value_of_a_whole_job_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(EVALUATED)
    options = (*SMALL_CARD, "--largest", "rows", "--whole-job", "--watch", "0", "--json")
    done = memtrace(tmp_path, "fit", *options, "--", sys.executable, "train.py", "{rows}")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    largest, fails = found["scalings"][0]["largest"], found["scalings"][0]["fails"]
    moments = {moment["name"]: moment for moment in found["moments"]}
    assert found["fits"] and fails == largest + 1 and moments["evaluation"]["fits"], found["moments"]
    assert moments["evaluation"]["needs"] > moments["step"]["needs"]
    assert found["limited_by"]["name"] == "evaluation" and found["limited_by"]["line"].startswith("train.py:")
    for rows, status in ((largest, 0), (fails, 1)):
        run = ("run", *SMALL_CARD, "--allocator", "native", "--no-trace", "--", sys.executable, "train.py", str(rows))
        assert memtrace(tmp_path, *run).returncode == status


def test_value_whose_evaluation_was_not_seen_is_not_known_to_fit(tmp_path: Path) -> None:
    evaluated = TRAINING.replace("range(5)", "range(500)") + "    if step == 400:\n        model.eval()\n"
    (tmp_path / "train.py").write_text(evaluated)
    options = (*CARD, "--largest", "rows=4", "--watch", "0", "--json")
    done = memtrace(tmp_path, "fit", *options, "--", sys.executable, "train.py", "{rows}")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["fits"]) == (6, "not_known", None), done.stderr
    assert found["scalings"][0]["largest"] >= 4 and [gap["moment"] for gap in found["gaps"]] == ["evaluation"]


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    def refusal(*options: str) -> str:
        done = memtrace(tmp_path, "fit", *options, "--", sys.executable, "train.py", "{rows}")
        assert done.returncode == 2
        return done.stderr

    assert "no card is given" in refusal("--largest", "rows")
    assert "the command does not contain {batch}" in refusal(*CARD, "--largest", "batch")
    assert "'rows=0' is not the name of an option" in refusal(*CARD, "--largest", "rows=0")
    assert "--scale" in refusal(*CARD, "--largest", "rows", "--scale", "rows=1,2")
