# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reports' conclusions from the functions of a stack, on traces of real programs, with each Python's names.

torch is installed for one Python. The other ones name the functions of the same sources, so that the trace is what they
would have recorded.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.events import TRACE_TEXT
from support.interpreters import interpreter
from support.json_object import JsonObject
from support.programs import memtrace, on_card

ROOT = Path(__file__).resolve().parents[4]
MINORS = ["3.10", "3.11", "3.12", "3.13"]
FRAME = re.compile(r'(?<=[=;"])([^;@="]+)@([^;@"]+):(\d+)')

TRAINING = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
optimizer = torch.optim.{}
model(torch.zeros(4, 1024, device="cuda")).sum().backward()
optimizer.step()
"""
RESIZING = """
import torch
from transformers import AutoModelForCausalLM, Qwen2Config
config = Qwen2Config(vocab_size=20000, hidden_size=512, intermediate_size=512, num_hidden_layers=1,
                     num_attention_heads=4, num_key_value_heads=4, tie_word_embeddings=False)
with torch.device("cuda"):
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
model.resize_token_embeddings(20008)
"""
# The script, the room beside the context, and the report's statements about the request: its role, a remedy.
PROGRAMS = {
    "states": (TRAINING.format("AdamW(model.parameters(), foreach=False)"), "106MiB", "optimizer_state", None),
    "momentum": (TRAINING.format("RMSprop(model.parameters())"), "86MiB", "optimizer_state", None),
    "copy": (TRAINING.format("AdamW(model.parameters())"), "152MiB", "temporary", "fused optimizer"),
    "resizing": (RESIZING, "128MiB", "unknown", "mean_resizing=False"),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Returns the program's name, and its trace as text."""
    script, room, *_ = PROGRAMS[request.param]
    mebibytes = 100 + int(room.removesuffix("MiB"))
    folder = tmp_path_factory.mktemp(request.param)
    run = on_card(script, folder, card=f"{mebibytes}MiB,context=100MiB", expect=1)
    assert "torch.OutOfMemoryError" in run.err, run.err
    done = subprocess.run([TRACE_TEXT, run.trace], capture_output=True, text=True, timeout=100, check=True)
    return request.param, done.stdout


def as_named_by(python: str, text: str) -> str:
    """Returns the trace's text with the function names of that Python."""
    frames = sorted({(file, int(line), function) for function, file, line in FRAME.findall(text)})
    program = [python, str(ROOT / "tests/support/function_names.py")]
    done = subprocess.run(program, input=json.dumps(frames), capture_output=True, text=True, timeout=100, check=True)
    names = dict(zip(frames, json.loads(done.stdout), strict=True))

    def renamed(match: re.Match[str]) -> str:
        function, file, line = match.groups()
        return f"{names[file, int(line), function] or function}@{file}:{line}"

    return FRAME.sub(renamed, text)


def report_of(text: str, folder: Path) -> JsonObject:
    (folder / "renamed.txt").write_text(text)
    subprocess.run([TRACE_TEXT, folder / "renamed.txt", folder / "renamed.trace"], timeout=100, check=True)
    report: JsonObject = json.loads(memtrace("report", "--json", str(folder / "renamed.trace")).out)
    return report


@pytest.mark.parametrize("minor", MINORS)
def test_request_has_its_role_and_remedy_with_names_of_each_python(
    minor: str, recorded: tuple[str, str], tmp_path: Path
) -> None:
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no Python {minor} on this machine")
    program, text = recorded
    _, _, role, remedy = PROGRAMS[program]
    named = as_named_by(python, text)
    assert ("Optimizer.profile_hook_step" in named) == (program != "resizing" and minor != "3.10")
    report = report_of(named, tmp_path)
    assert report["request"]["role"] == role, report["request"]
    if remedy is not None:
        assert remedy in [row["name"] for row in report["remedies"]], report["remedies"]
