# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace fit` on experts whose sizes follow from the router's choice: an even one is assumed, the worst made."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MEMTRACE

pytest.importorskip("transformers", reason="transformers is not installed")

MIB = 2**20

# The steps of a small Mixtral; each expert gets 1,024 of 4,096 tokens, or two get all of them.
PROGRAM = """
import sys
import torch
from torch.utils.data import DataLoader
from transformers import MixtralConfig, MixtralForCausalLM

config = MixtralConfig(vocab_size=512, hidden_size=256, intermediate_size=4096, num_hidden_layers=2,
                       num_attention_heads=4, num_key_value_heads=2, num_local_experts=8, num_experts_per_tok=2)
model = MixtralForCausalLM._from_config(config, experts_implementation=sys.argv[1]).cuda()
optimizer = torch.optim.SGD(model.parameters())
for x in DataLoader([torch.zeros(512, dtype=torch.long)] * 64, batch_size=8):
    model(input_ids=x.cuda(), labels=x.cuda(), use_cache=False).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(torch.cuda.max_memory_allocated())
"""


# Serves four equal calls by the model itself ("forward") or by `generate`, or makes one ("once").
SERVING = (
    PROGRAM.split("optimizer = ")[0].replace("sys.argv[1]", "'eager'")
    + """
model.eval()
x = torch.zeros(8, 512, dtype=torch.long, device="cuda")
with torch.no_grad():
    for _ in range(1 if sys.argv[1] == "once" else 4):
        if sys.argv[1] == "forward":
            shares = torch.nn.Softmax(dim=-1)(model(input_ids=x, use_cache=False).logits)  # a module without a router
            del shares
        else:
            model.generate(x, max_new_tokens=4, do_sample=False, pad_token_id=0)
print(torch.cuda.max_memory_allocated())
"""
)


def memtrace(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a verb of memtrace in the folder."""
    return subprocess.run([MEMTRACE, *words], cwd=folder, capture_output=True, text=True, timeout=400, check=False)


def fit(folder: Path, card: str, word: str, *options: str, program: str = PROGRAM) -> tuple[int, JsonObject]:
    """Returns the exit code and the answer about the program with this word: experts ("eager", "grouped_mm")."""
    (folder / "train.py").write_text(program)
    words = ("fit", "--json", "--no-remedies", "--card", card, "--steps", "3", "--margin", "0", "--watch", "0")
    done = memtrace(folder, *words, *options, "--", sys.executable, "train.py", word)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def by_name(answer: JsonObject) -> dict[str, JsonObject]:
    return {moment["name"]: moment for moment in answer["moments"]}


def peak_with(folder: Path, choice: str, word: str = "eager") -> int:
    """Returns the peak of the program whose router always makes this choice."""
    policy = folder / "choice.policy"
    policy.write_text(f"aten::topk result {choice}\n")
    options = ("--card", "24GiB", "--allocator", "native", "--host-values", str(policy))
    return int(memtrace(folder, "run", *options, "--", sys.executable, "train.py", word).stdout)


def test_worst_choice_is_a_moment_with_the_need_of_a_program_that_always_has_it(tmp_path: Path) -> None:
    code, answer = fit(tmp_path, "24GiB", "eager", "--whole-job")
    moments = by_name(answer)
    assert (code, answer["verdict"]) == (0, "fits"), answer
    assert moments["routing"]["known"] == "assumed"
    worse = peak_with(tmp_path, "first") - peak_with(tmp_path, "balanced")
    assert worse > 0
    assert moments["routing"]["needs"] - moments["step"]["needs"] == worse


@pytest.mark.parametrize("way", ["forward", pytest.param("generate", marks=pytest.mark.slow)])
def test_worst_choice_of_a_program_that_only_serves_has_the_need_of_one_that_always_has_it(way, tmp_path: Path) -> None:
    code, answer = fit(tmp_path, "24GiB", way, "--whole-job", program=SERVING)
    moments = by_name(answer)
    assert (code, answer["verdict"]) == (0, "fits"), answer
    assert {moment["known"] for moment in moments.values()} == {"assumed"}
    worse = peak_with(tmp_path, "first", way) - peak_with(tmp_path, "balanced", way)
    assert worse > 0
    assert moments["routing"]["needs"] - moments["step"]["needs"] == worse


@pytest.mark.slow
def test_a_program_that_serves_one_call_keeps_the_gap(tmp_path: Path) -> None:
    code, answer = fit(tmp_path, "24GiB", "once", "--whole-job", program=SERVING)
    assert (code, [gap["moment"] for gap in answer["gaps"]]) == (6, ["routing"]), answer["gaps"]


@pytest.mark.slow
@pytest.mark.parametrize(("word", "program", "line"), [("eager", PROGRAM, 12), ("forward", SERVING, 16)])
def test_job_that_only_survives_an_even_choice_does_not_fit(word, program, line, tmp_path: Path) -> None:
    _, large = fit(tmp_path, "24GiB", word, "--whole-job", program=program)
    short = by_name(large)["routing"]["needs"] // MIB - 8
    code, answer = fit(tmp_path, f"{short}MiB", word, "--whole-job", program=program)
    moments = by_name(answer)
    assert (code, moments["step"]["fits"], moments["routing"]["fits"]) == (1, True, False), answer["moments"]
    assert moments["routing"]["line"] == f"train.py:{line}", moments["routing"]


@pytest.mark.slow
def test_uneven_routing_is_a_gap_only_where_sizes_follow_from_it(tmp_path: Path) -> None:
    code, answer = fit(tmp_path, "24GiB", "eager")
    assert (code, answer["verdict"]) == (6, "not_known")
    assert [gap["moment"] for gap in answer["gaps"]] == ["routing"], answer["gaps"]
    assert "modeling_mixtral.py:" in answer["gaps"][0]["evidence"]
    code, answer = fit(tmp_path, "24GiB", "grouped_mm")
    assert (code, answer["gaps"]) == (0, []), answer
