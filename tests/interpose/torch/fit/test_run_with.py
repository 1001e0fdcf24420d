# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace run --with`: changes are made as in a trial, said, and refused before the first step if they cannot be."""

import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from support.events import annotations
from support.programs import Finished, memtrace, on_card, on_its_own

BLOCKS = """
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512))
    def forward(self, x):
        return x + self.inner(x)
"""
TRAINING = """
import torch
from torch import nn
from blocks import Block
model = nn.Sequential(*[Block() for _ in range(6)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x = torch.randn(4096, 512, device="cuda")
for step in range(12):
    model(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
open("trained.txt", "w").write(str(step))
print(torch.cuda.max_memory_allocated())
"""
STEP = """
weight = nn.Parameter(torch.zeros(16, device="cuda"))
optimizer = torch.optim.AdamW([weight])
weight.sum().backward()
optimizer.step()
"""
NATIVE = ("--allocator", "native")
CHANGES = "checkpoint=2,fused"
TORCH = version("torch").partition("+")[0]
TORCH_MINOR = TORCH.rpartition(".")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the script, its module, and the changes that a trial made in them."""
    made = tmp_path_factory.mktemp("with")
    (made / "blocks.py").write_text(BLOCKS)
    trial = run(made, options=NATIVE, MEMTRACE_FIT_CHANGES=CHANGES, MEMTRACE_FIT_STEPS="2:8")
    assert "trained" not in trial.out
    (made / "fit.json").write_text(json.dumps(saved(annotations(trial.trace))))
    return made


def run(folder: Path, *, expect: int = 0, script: str = TRAINING, **settings: object) -> Finished:
    (folder / "trained.txt").unlink(missing_ok=True)
    path = folder / "train.py"
    path.write_text(f"import os; os.chdir({str(folder)!r})\n{script}")
    return on_card(path, folder, expect=expect, PYTHONDONTWRITEBYTECODE="1", **settings)


def saved(facts: dict[str, str]) -> dict[str, object]:
    """Returns the file that `fit --save-plan` writes about a trial with these facts."""
    changes = []
    for word in CHANGES.split(","):
        name, _, degree = word.partition("=")
        by, _, places = facts[f"fit.made.{name}"].partition(":")
        changed = json.loads(facts[f"fit.changed.{name}"])
        changes.append({"name": name, "degree": degree, "by": by, **changed, "places": int(places)})
    return {
        "schema": "memtrace.changes/1",
        "torch": TORCH,
        "packages": {},
        "script": {"name": "train.py", "sha256": "", "arguments": [], "options": []},
        "allocator": "native",
        "settings": {},
        "changes": changes,
        "expects": {"peak_allocated": int(facts["fit.peak_allocated.0"])},
    }


def edited(folder: Path, **differences: object) -> str:
    """Writes a copy of the changes with other values; returns its path."""
    path = folder / "edited.json"
    path.write_text(json.dumps(json.loads((folder / "fit.json").read_text()) | differences))
    return str(path)


def test_peak_is_that_of_the_trial_and_the_program_runs_to_its_end(folder: Path) -> None:
    done = run(folder, options=("--with", str(folder / "fit.json")))
    expected = json.loads((folder / "fit.json").read_text())["expects"]["peak_allocated"]
    assert done.printed() == expected
    assert done.err.splitlines() == [
        "memtrace: 'checkpoint=2' is applied to 2 of 6 Block, first at 0.",
        "memtrace: 'fused' is applied to AdamW, first at train.py:7.",
    ]
    # Neither the end after some steps nor the layer over files is active.
    assert (folder / "trained.txt").read_text() == "11"


def test_names_are_applied_without_a_trial(folder: Path) -> None:
    done = run(folder, options=(*NATIVE, "--with", "checkpointing=2,fused", "--no-trace"), output=False)
    assert done.printed() == json.loads((folder / "fit.json").read_text())["expects"]["peak_allocated"]


def test_states_that_the_first_step_makes_are_found_after_it(folder: Path) -> None:
    done = run(folder, options=("--with", "states-on-host", "--no-trace"), output=False)
    assert done.err.splitlines() == ["memtrace: 'states_on_host' is applied to AdamW."]
    assert (folder / "trained.txt").read_text() == "11"


def test_change_that_finds_nothing_stops_the_program_before_its_first_step(folder: Path) -> None:
    script = TRAINING.replace("    optimizer.step()", "    print('a step'); optimizer.step()")
    stopped = run(folder, expect=5, script=script, options=("--with", "mean-resizing"))
    assert "The change 'mean_resizing' found nothing to change. The program was stopped" in stopped.err
    assert stopped.out == "a step\n" and not (folder / "trained.txt").exists()


def test_renamed_layer_class_is_refused_unless_what_can_be_is_enough(folder: Path) -> None:
    (folder / "blocks.py").write_text(BLOCKS.replace("Block", "Layer"))
    script = TRAINING.replace("import Block", "import Layer as Block")
    plan = ("--with", str(folder / "fit.json"))
    try:
        stopped = run(folder, expect=5, script=script, options=plan)
        went_on = run(folder, script=script, options=(*plan, "--with-what-can-be"))
    finally:
        (folder / "blocks.py").write_text(BLOCKS)
    assert "fit.json applies 'checkpoint' to 2 of 6 Block, but the program has 2 of 6 Layer." in stopped.err
    assert "The program goes on." in went_on.err and (folder / "trained.txt").exists()


@pytest.mark.slow
def test_model_without_such_layers_is_refused(folder: Path) -> None:
    script = TRAINING.replace("*[Block() for _ in range(6)]", "nn.Linear(512, 512)")
    stopped = run(folder, expect=5, script=script, options=("--with", str(folder / "fit.json")))
    assert "fit.json applies 'checkpoint' to 2 of 6 Block, but the program has none." in stopped.err


def test_other_versions_are_refused_before_the_program_uses_torch(folder: Path) -> None:
    other = edited(folder, torch="2.4.1", packages={"no-such-library": "1.0"})
    stopped = run(folder, expect=2, options=("--with", other), script="import torch\nprint('imported')")
    assert (
        f"edited.json was made for torch 2.4, and {TORCH_MINOR} is installed. --with-what-can-be applies" in stopped.err
    )
    assert stopped.out == ""


def test_wrong_changes_are_refused_before_the_start(folder: Path, tmp_path: Path) -> None:
    def refusal(changes: str, *options: str) -> str:
        done = memtrace("run", "--with", changes, *options, "--", sys.executable, str(folder / "train.py"))
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
        return done.err

    assert "there is no file nowhere.json" in refusal("nowhere.json")
    assert "there is no change 'quick'; the changes are" in refusal("quick")
    assert "'share' can only be applied on a simulated card" in refusal("offload,share")
    assert "has the schema memtrace.changes/7" in refusal(edited(folder, schema="memtrace.changes/7"))
    script = {"name": "other.py", "sha256": "0123456789abcdef", "arguments": [], "options": []}
    assert "was made for other.py, and the command runs" in refusal(edited(folder, script=script), "--card", "1GiB")
    (tmp_path / "not.json").write_text("nothing")
    assert "not.json is not a file that memtrace fit --save-plan wrote" in refusal(str(tmp_path / "not.json"))


def test_script_applies_changes_itself(tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS)
    done = on_its_own(
        'import memtrace\nmemtrace.simulated_card("4GiB")\nmemtrace.apply("fused")\n' + TRAINING, tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "memtrace: 'fused' is applied to AdamW, first at train.py:9." in done.stderr


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [
        ('import memtrace\nmemtrace.apply("fused.json")  # found by fit\n\n', ""),
        ('import memtrace\nmemtrace.apply("fused.json")\nLAYERS = 7\n', "was made for another version of train.py"),
    ],
)
def test_script_that_applies_a_file_is_the_script_that_it_was_made_for(
    tmp_path: Path, lines: str, refusal: str
) -> None:
    script = "import torch\nfrom torch import nn\n" + STEP
    change = {"name": "fused", "degree": "", "by": "backward", "places": 1, "of": 1, "target": "AdamW", "first": ""}
    made_for = {"name": "train.py", "sha256": hashlib.sha256(script.encode()).hexdigest()[:16]}
    plan = {"schema": "memtrace.changes/1", "torch": TORCH, "packages": {}, "allocator": "native", "settings": {}}
    plan |= {"script": made_for | {"arguments": [], "options": []}, "changes": [change], "expects": {}}
    (tmp_path / "fused.json").write_text(json.dumps(plan))
    (tmp_path / "train.py").write_text(lines + script)
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env={**os.environ, "MEMTRACE": "1GiB"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == bool(refusal), done.stderr
    assert refusal in done.stderr
    assert ("'fused' is applied to AdamW" in done.stderr) == (not refusal)
    assert ("what_can_be=True" in done.stderr) == bool(refusal)


def test_offload_is_accepted_on_a_real_card() -> None:
    done = memtrace("run", "-q", "--no-trace", "--with", "offload", "--", sys.executable, "-c", "print('ran')")
    assert (done.status, done.out) == (0, "ran\n"), done.err


def test_script_is_refused_only_changes_that_need_a_simulated_card(tmp_path: Path) -> None:
    script = """
import memtrace
try:
    memtrace.apply("offload,share")
except ValueError as error:
    print(error)
"""
    done = on_its_own(script, tmp_path)
    assert done.stdout == "memtrace.apply: The change 'share' can only be applied on a simulated card.\n", done.stderr
