# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace fit --whole-job` on plain loops; each answer is followed by running the program whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MEMTRACE

MIB = 2**20

# A step needs about 20 MiB beside the context. The evaluation keeps 160 KiB of each of its 600 batches, and comes only
# after 300 steps; the last lines join them.
LOOP = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader

data = [torch.zeros(256) for _ in range(1200)]
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

def evaluate(model, loader):
    model.eval()
    kept = []
    with torch.no_grad():
        for x in loader:
            kept.append(model(x.cuda()).repeat(1, 20))
    model.train()
    return len(kept)

def main():
    if "--resume" in sys.argv:
        states = torch.load(sys.argv[sys.argv.index("--resume") + 1], map_location="cuda")
        model.load_state_dict(states["model"])
        optimizer.load_state_dict(states["optimizer"])
        kept = torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")
    seen = DataLoader(data, batch_size=2)
    for step, x in enumerate(DataLoader(data, batch_size=4)):
        model(x.cuda()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 300 == 299:
            evaluate(model, seen)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "state.pt")

main()
"""
# The evaluation keeps 4 MiB of the output of 11 modules for a backward pass, beside one block of 6 MiB.
SEQUENTIAL = """
import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(12)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x in DataLoader([torch.zeros(256) for _ in range(32)], batch_size=4):
    model(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
mask = torch.zeros(6 << 20, dtype=torch.uint8, device="cuda")
loss = model(torch.zeros(4096, 256, device="cuda")).sum()
"""
# Parameters take 64 MiB and the optimizer's states 128. The evaluation keeps 400 MiB beside both, more than an update.
KEPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for x in DataLoader([torch.zeros(2048) for _ in range(16)], batch_size=4):
    model(x.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
with torch.no_grad():
    kept = model(torch.zeros(4, 2048, device="cuda")).repeat(12800, 1)
"""
ALSO = ("--also", "evaluate(model, seen)")
RESUMED = ("--resumed-by", f"{sys.executable} train.py --resume {{checkpoint}}")


def fit(folder: Path, card: str, *options: str, script: str = LOOP) -> tuple[int, JsonObject]:
    """Returns the exit code and the answer."""
    (folder / "train.py").write_text(script)
    command = [MEMTRACE, "fit", "--json", "--no-remedies", "--card", card, "--steps", "3", "--margin", "0", *options]
    done = subprocess.run(
        [*command, "--whole-job", "--", sys.executable, "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def completes(folder: Path, card: str) -> bool:
    """Runs the program whole on the card."""
    command = [MEMTRACE, "run", "--card", card, "--allocator", "native", "-o", "whole.trace", "-f", "--"]
    done = subprocess.run(
        [*command, sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode == 0


def by_name(answer: JsonObject) -> dict[str, JsonObject]:
    return {moment["name"]: moment for moment in answer["moments"]}


def test_call_that_keeps_its_predictions_does_not_fit_and_the_program_runs_out(tmp_path: Path) -> None:
    card = "130MiB,context=40MiB"
    code, answer = fit(tmp_path, card, *ALSO, *RESUMED)
    evaluation = by_name(answer)["evaluation"]
    assert (code, answer["verdict"], evaluation["fits"]) == (1, "does_not_fit", False), answer["moments"]
    assert by_name(answer)["step"]["fits"]
    assert not completes(tmp_path, card)


@pytest.mark.slow
def test_job_with_all_its_moments_fits_and_the_program_completes(tmp_path: Path) -> None:
    card = "260MiB,context=40MiB"
    code, answer = fit(tmp_path, card, *ALSO, *RESUMED)
    moments = by_name(answer)
    assert (code, answer["verdict"]) == (0, "fits"), answer
    assert {"step", "evaluation", "checkpoint", "resume", "end"} <= set(moments)
    assert moments["resume"]["needs"] > moments["step"]["needs"] + 64 * MIB
    assert completes(tmp_path, card)


@pytest.mark.slow
def test_activations_of_all_modules_are_the_holder_and_not_one_larger_block(tmp_path: Path) -> None:
    _, answer = fit(tmp_path, "1GiB", script=SEQUENTIAL)
    evaluation = by_name(answer)["evaluation"]
    assert evaluation["holder"].startswith("activation, ["), evaluation
    assert evaluation["holder_places"] >= 11 and evaluation["held"] >= 44 * MIB, evaluation


@pytest.mark.slow
def test_moments_that_no_option_makes_are_named(tmp_path: Path) -> None:
    code, answer = fit(tmp_path, "260MiB,context=40MiB")
    gaps = {gap["moment"]: gap["why_not"] for gap in answer["gaps"]}
    assert (code, answer["verdict"], set(gaps)) == (6, "not_known", {"evaluation", "resume"}), answer["gaps"]
    assert "--also" in gaps["evaluation"] and "--resumed-by" in gaps["resume"]


@pytest.mark.slow
def test_plan_for_the_whole_job_takes_the_program_through_its_evaluation(tmp_path: Path) -> None:
    card = ("--card", "580MiB,context=40MiB")
    program = ("--", sys.executable, "train.py")

    def memtrace(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [MEMTRACE, *words, *program], cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False
        )

    (tmp_path / "train.py").write_text(KEPT)
    done = memtrace("fit", "--json", *card, "--steps", "3", "--whole-job", "--save-plan", "plan.json")
    answer = json.loads(done.stdout)
    moments = by_name(answer)
    assert (done.returncode, moments["step"]["fits"], moments["evaluation"]["fits"]) == (1, True, False), done.stdout
    assert answer["cheapest"] and answer["recommended"] == "optimizer states in host memory", answer["remedies"]
    assert [change["name"] for change in json.loads((tmp_path / "plan.json").read_text())["changes"]] == [
        "states_on_host"
    ]
    run = ("run", *card, "--allocator", "native", "--no-trace")
    assert memtrace(*run).returncode == 1
    changed = memtrace(*run, "--with", "plan.json")
    assert changed.returncode == 0, changed.stderr


@pytest.mark.slow
def test_call_of_an_unknown_name_is_a_wrong_option(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    command = [MEMTRACE, "fit", "--card", "1GiB", "--steps", "3", "--whole-job", "--also", "evaluate(models)"]
    done = subprocess.run(
        [*command, "--", sys.executable, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2 and "there is no 'models' at train.py:" in done.stderr, done.stderr
