# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace run --with` in loops that come late to what it changes: no program is stopped before it gets there."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from memtrace._changes import NAMES
from support.events import annotations
from support.programs import Finished, on_card

TRAINING = """
import copy, torch
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(256, 256)
    def forward(self, x):
        return x + self.inner(x).relu()
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1024, 256)
        self.blocks = nn.Sequential(*[Block() for _ in range(4)])
        self.head = nn.Linear(256, 1024, bias=False)
    def forward(self, words):
        return self.head(self.blocks(self.embedding(words)))
def capture():
    graph, still = torch.cuda.CUDAGraph(), torch.ones(1 << 16, device="cuda")
    with torch.cuda.graph(graph):
        still * 2
    return graph
model = Words().cuda()
teacher = nn.Sequential(*[Block() for _ in range(12)]).cuda()
unused = nn.Linear(8, 8).cuda()
model.unused = unused
optimizer = torch.optim.AdamW([p for name, p in model.named_parameters() if "unused" not in name])
words = torch.randint(0, 1000, (64, 16), device="cuda")
for step in range(4):
    with torch.no_grad():
        teacher(torch.ones(4, 256, device="cuda"))
    for part in words.chunk(2):
        nn.functional.cross_entropy(model(part).flatten(0, 1), part.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    if step == 1:
        best = copy.deepcopy(model)
graphs = [capture(), capture()]
print(step)
"""
# The changes that have something to do in that program, in sets of those that go together.
APPLIED = (
    ("checkpoint", "fused", "freeze", "graph_pool", "pieces", "set_to_none", "share", "states_on_host"),
    ("activations_on_host", "bf16", "loop", "second_card"),
    ("checkpoint_products", "offload"),
)
# A package makes these, or a call of a framework.
OF_FRAMEWORKS = ("adam8bit", "balanced", "liger", "lora", "mean_resizing", "micro")


def run(folder: Path, *, script: str = TRAINING, expect: int = 0, **settings: object) -> Finished:
    (folder / "train.py").write_text(script)
    return on_card(folder / "train.py", folder, expect=expect, **settings)


def said_of(done: Finished) -> dict[str, str]:
    """Returns the line about each change."""
    lines = [line for line in done.err.splitlines() if "memtrace: '" in line]
    return {line.split("'")[1].partition("=")[0]: line for line in lines}


def test_each_change_is_in_one_of_the_sets() -> None:
    assert sorted([*OF_FRAMEWORKS, *(name for names in APPLIED for name in names)]) == sorted(NAMES)


@pytest.mark.parametrize("names", APPLIED, ids=lambda names: names[0])
def test_program_with_zero_grad_last_is_not_stopped(names: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, card="2x4GiB", options=("--with", ",".join(names), "--no-trace"), output=False)
    assert done.out == "3\n"
    assert sorted(said_of(done)) == sorted(names), done.err
    assert all(" is applied to " in line for line in said_of(done).values())


def test_program_that_never_has_it_is_stopped_before_its_second_step(tmp_path: Path) -> None:
    script = TRAINING.replace("set_to_none=False", "").replace("optimizer.step()", "print('a step'); optimizer.step()")
    stopped = run(tmp_path, script=script, expect=5, options=("--with", "set-to-none", "--no-trace"), output=False)
    assert stopped.out == "a step\na step\n"
    assert "The change 'set_to_none' found nothing to change. The program was stopped before its second" in stopped.err


def test_run_is_compared_with_a_trial_that_found_it_late(tmp_path: Path) -> None:
    trial = run(tmp_path, MEMTRACE_FIT_CHANGES="set_to_none,graph_pool", MEMTRACE_FIT_STEPS="8:8")
    facts = annotations(trial.trace)
    assert facts["fit.made.set_to_none"] == "second_step:1"
    assert facts["fit.made.graph_pool"] == "end:1"
    plan = tmp_path / "fit.json"
    plan.write_text(json.dumps(saved(facts)))
    same = run(tmp_path, options=("--with", str(plan), "--no-trace"), output=False)
    assert sorted(said_of(same)) == ["graph_pool", "set_to_none"]
    fewer = TRAINING.replace("[capture(), capture()]", "[capture()]")
    other = run(tmp_path, script=fewer, options=("--with", str(plan), "--no-trace"), output=False)
    assert "fit.json applies 'graph_pool' to CUDAGraph, but the program has none." in other.err
    without = TRAINING.replace("set_to_none=False", "")
    stopped = run(tmp_path, script=without, expect=5, options=("--with", str(plan), "--no-trace"), output=False)
    assert "fit.json applies 'set_to_none' to AdamW, but the program has none." in stopped.err


def saved(facts: dict[str, str]) -> dict[str, object]:
    """Returns the file that `fit --save-plan` writes about a trial with these facts."""
    changes = []
    for name in ("set_to_none", "graph_pool"):
        by, _, places = facts[f"fit.made.{name}"].partition(":")
        changed = json.loads(facts[f"fit.changed.{name}"])
        changes.append({"name": name, "by": by, **changed, "places": int(places)})
    return {
        "schema": "memtrace.changes/1",
        "torch": version("torch").partition("+")[0],
        "packages": {},
        "script": {"name": "train.py", "sha256": "", "arguments": [], "options": []},
        "allocator": "native",
        "settings": {},
        "changes": changes,
    }
