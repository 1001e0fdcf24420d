# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace fit` with real torch: verdict, need, remedies, and programs that say nothing about memory."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.guard import processes_of
from support.json_object import JsonObject
from support.programs import MEMTRACE

MIB = 2**20
# 64 MiB of parameters, as many of gradients, twice that of states: a fused step needs 256 MiB, a foreach one 320.
TRAINING = """
import sys, torch
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048, bias=False) for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    model(torch.randn(int(sys.argv[1]), 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
open("trained.txt", "w").write("yes")
torch.save(model.state_dict(), "model.pt")
"""


def fit(folder: Path, text: str, *words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    script = folder / "program.py"
    script.write_text(text)
    watch = () if {"--steps", "--watch"} & set(options) else ("--watch", "0")
    command = [MEMTRACE, "fit", *options, *watch, "--", sys.executable, script, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def answer(done: subprocess.CompletedProcess[str]) -> JsonObject:
    found = json.loads(done.stdout)
    assert found["schema"] == "memtrace.fit/1"
    assert_no_contradiction(found, done.returncode)
    return dict(found)


CODES = {"fits": 0, "fits_in_the_steps_seen": 0, "does_not_fit": 1, "will_not_fit": 1, "not_known": 6}


def assert_no_contradiction(found: JsonObject, code: int) -> None:
    """Checks rules for every answer about a card that was not stopped."""
    assert found["fits"] == {"does_not_fit": False, "will_not_fit": False, "not_known": None}.get(
        found["verdict"], True
    )
    assert (found["verdict"] == "fits") == (found["fits"] is True and found["seen"]["whole_program"])
    assert not (found["fits"] and found["gaps"])
    assert code == CODES[found["verdict"]]
    assert (found["first_failure"] is not None) == (found["verdict"] == "does_not_fit")
    assert sum(part["bytes"] for part in found["parts"]) == found["needs"]
    if found["fits"]:
        assert found["needs"] <= found["card_bytes"][0] and found["remedies"] == []
    for remedy in found["remedies"]:
        assert not (remedy["fits"] and remedy["first_failure"])


# A language model of 16 bits with 32,000 words, whose loss is computed in 32 bits.
LANGUAGE = """
import torch
from torch.nn.functional import cross_entropy
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lm_head = torch.nn.Embedding(32000, 64), torch.nn.Linear(64, 32000, bias=False)
    def forward(self, tokens):
        return self.lm_head(self.embed(tokens))
model = Model().to("cuda", torch.bfloat16)
tokens = torch.zeros(8, 512, dtype=torch.int64, device="cuda")
for step in range(3):
    logits = model(tokens)
    cross_entropy(logits.float().flatten(0, 1), tokens.flatten()).backward()
    model.zero_grad()
"""


def test_logits_are_a_part_of_the_need(tmp_path: Path) -> None:
    done = fit(tmp_path, LANGUAGE, options=("--card", "4GiB", "--json"))
    assert done.returncode == 0, done.stderr
    parts = {part["name"]: part["bytes"] for part in answer(done)["parts"]}
    numbers = 8 * 512 * 32000
    # In backward: the logits, and in 32 bits the logarithms that cross entropy saved, their gradient, and that of the
    # logits.
    assert parts["logits"] == numbers * (2 + 3 * 4)
    assert parts["activations"] < 2 * MIB and parts.get("temporaries", 0) < 2 * MIB


def test_fitting_program_is_reported_with_its_need(tmp_path: Path) -> None:
    done = fit(tmp_path, TRAINING, "4", options=("--card", "2GiB", "--json"))
    assert done.returncode == 0, done.stderr
    found = answer(done)
    parts = {part["name"]: part["bytes"] for part in found["parts"]}
    assert found["fits"] and found["first_failure"] is None and found["remedies"] == []
    assert parts["parameters"] == 64 * MIB
    assert parts["gradients"] == 64 * MIB
    assert parts["optimizer states"] == pytest.approx(128 * MIB, abs=MIB)
    assert parts["temporaries"] == pytest.approx(64 * MIB, abs=MIB)
    assert sum(parts.values()) == found["needs"] == found["cards"][0]["needs"]
    # It was stopped before it could write anything.
    kept = found["kept_away"]
    assert (kept["saves"], kept["files"], kept["first"], kept["changed"]) == (0, 0, [], [])
    assert kept["other_programs"] == {"count": 0, "first": []}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["program.py"]


SAVING = """
import subprocess, torch
weight = torch.nn.Parameter(torch.ones(1024, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(2):
    weight.sum().backward()
    optimizer.step()
    torch.save(weight, f"step-{step}.pt")
    subprocess.run(["true"])
    open("log.txt", "a").write("a step")
open("mine.txt", "w").write("lost")
"""


def test_files_of_a_trial_are_redirected_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_FIT_OVERLAY", "0")  # test_fit_user_files.py tests it with the layer
    mine = tmp_path / "mine.txt"
    mine.write_text("kept")
    done = fit(tmp_path, SAVING, options=("--card", "2GiB", "--steps", "9"))
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "2 checkpoints were kept away from your folders: they were not written." in said
    assert "2 files that the program wrote, moved or deleted were kept away from your folders." in said
    assert str(tmp_path / "step-0.pt") in said
    assert "Each run started 2 programs that are not Python." in said and "was not kept away. Names: true." in said
    assert mine.read_text() == "kept"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.txt", "program.py"]


def test_smallest_fitting_change_is_recommended(tmp_path: Path) -> None:
    # The context has 500 MiB: a fused step completes, but not on 5 % less.
    done = fit(tmp_path, TRAINING, "4", options=("--card", "800MiB", "--margin", "0", "--json"))
    assert done.returncode == 1, done.stderr
    found = answer(done)
    assert not found["fits"]
    assert found["first_failure"]["line"].startswith("program.py:")
    fitting = {remedy["name"] for remedy in found["remedies"] if remedy["fits"]}
    assert "fused optimizer" in fitting
    assert found["recommended"] == "fused optimizer"


# Each of four graphs keeps 64 MiB in a pool of its own. The program makes no step, so the time of one is not known.
GRAPHS = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(3)]).cuda()
served = []
for _ in range(4):
    x = torch.zeros(4096, 2048, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        out = model(x).sum()
    served.append((graph, x, out))
for graph, _, _ in served:
    graph.replay()
"""


@pytest.mark.slow
def test_program_without_steps_is_tried_with_one_pool_for_its_graphs(tmp_path: Path) -> None:
    options = ("--card", "450MiB,context=40MiB", "--watch", "0", "--json")
    done = fit(tmp_path, GRAPHS, options=options)
    found = answer(done)
    assert found["recommended"] == "one pool for all graphs", done.stderr
    tried = {remedy["name"]: remedy["was_run"] for remedy in found["remedies"]}
    assert tried["one pool for all graphs"] and not tried["gradient checkpointing"], tried


@pytest.mark.slow
def test_script_option_is_varied(tmp_path: Path) -> None:
    options = ("--card", "1GiB", "--vary", "rows=60000,10", "--json")
    done = fit(tmp_path, TRAINING, "{rows}", options=options)
    assert done.returncode == 1, done.stderr
    by_name = {remedy["name"]: remedy for remedy in answer(done)["remedies"]}
    assert by_name["rows=10"]["fits"]


# Its first step requests too much; the error is caught and printed, and the program ends with exit code 0.
CATCHING = """
import torch
weight = torch.nn.Parameter(torch.ones(100 << 18, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for attempt in range(ATTEMPTS):
    try:
        extra = torch.empty((600 << 20) // (attempt + 1) ** 2, dtype=torch.uint8, device="cuda")
        weight.sum().backward()
        optimizer.step()
    except torch.OutOfMemoryError as error:
        print(str(error)[:20])
"""


def test_caught_error_that_ends_the_program_does_not_fit(tmp_path: Path) -> None:
    done = fit(tmp_path, CATCHING.replace("ATTEMPTS", "1"), options=("--card", "1000MiB", "--no-remedies", "--json"))
    found = answer(done)
    assert found["verdict"] == "does_not_fit" and found["needs"] > found["card_bytes"][0]


def test_error_that_the_program_recovers_from_fits_with_a_note(tmp_path: Path) -> None:
    done = fit(tmp_path, CATCHING.replace("ATTEMPTS", "4"), options=("--card", "1000MiB", "--json"))
    found = answer(done)
    assert found["fits"] and found["got_over"]["times"] >= 1
    assert found["seen"]["whole_program"] or found["seen"]["steps"] > 0


KEEPING = """
import torch
weight = torch.nn.Parameter(torch.ones(1024, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
kept = []
for step in range(1000):
    kept.append(torch.empty(10 << 20, dtype=torch.uint8, device="cuda"))
    weight.sum().backward()
    optimizer.step()
"""


@pytest.mark.slow
def test_rising_peak_is_followed_until_it_fills_the_card(tmp_path: Path) -> None:
    done = fit(tmp_path, KEEPING, options=("--card", "800MiB", "--steps", "8", "--no-remedies", "--json"))
    found = answer(done)
    assert found["verdict"] == "does_not_fit"
    assert found["seen"]["rise"]["bytes"] == 10 * MIB
    # 500 MiB are the context's, 2 more exist before the first step: the rest is filled by blocks of 10 MiB.
    assert found["first_failure"]["step"] == pytest.approx(30, abs=2)


@pytest.mark.slow
def test_rising_peak_will_not_fit_beyond_a_predicted_step(tmp_path: Path) -> None:
    slow = KEEPING.replace("import torch", "import time, torch") + "    time.sleep(0.5)\n"
    options = ("--card", "800MiB", "--steps", "8", "--time", "20", "--no-remedies", "--json")
    found = answer(fit(tmp_path, slow, options=options))
    assert found["verdict"] == "will_not_fit"
    assert found["seen"]["rise"]["full_in_step"] == pytest.approx(30, abs=2)


def test_peak_that_rose_in_the_last_step_is_not_known(tmp_path: Path) -> None:
    done = fit(tmp_path, TRAINING, "4", options=("--card", "2GiB", "--steps", "1", "--json"))
    assert answer(done)["verdict"] == "not_known"


def test_first_request_of_all_can_be_the_one_that_fails(tmp_path: Path) -> None:
    text = 'import torch\ntorch.empty(700 << 20, dtype=torch.uint8, device="cuda")\n'
    done = fit(tmp_path, text, options=("--card", "600MiB", "--json", "--no-remedies"))
    assert done.returncode == 1, done.stderr
    failure = answer(done)["first_failure"]
    assert failure["bytes"] == 700 * MIB and failure["line"] == "program.py:2"


def test_program_that_fails_by_itself_is_an_error(tmp_path: Path) -> None:
    done = fit(tmp_path, "raise SystemExit('no data in /data')", options=("--card", "2GiB"))
    assert done.returncode == 3
    assert "exit code 1 by itself" in done.stderr and "no data in /data" in done.stderr


def test_program_without_a_card_has_nothing_to_fit(tmp_path: Path) -> None:
    done = fit(tmp_path, "print('hello')", options=("--card", "2GiB"))
    assert done.returncode == 3
    assert "allocates nothing on a card" in done.stderr
    assert done.stdout == ""


FOREVER = "import torch, time\ntorch.zeros(1).cuda()\nprint(1)\nwhile True: time.sleep(1)"


def test_program_without_steps_is_ended_with_its_position(tmp_path: Path) -> None:
    done = fit(tmp_path, FOREVER, options=("--card", "2GiB", "--time", "12"))
    assert done.returncode == 6
    assert "--time" in done.stderr and "it was at program.py:4" in done.stderr
    assert done.stdout.startswith("NOT KNOWN. memtrace fit reached its time limit")


@pytest.mark.slow
def test_each_run_has_a_line_without_a_terminal(tmp_path: Path) -> None:
    done = fit(tmp_path, TRAINING, "4", options=("--card", "2GiB", "--margin", "0"))
    lines = done.stderr.splitlines()
    assert [line.split(" ...")[0] for line in lines] == ["memtrace: without a limit", "memtrace: on the card"]
    assert all("nothing fails in 2 steps" in line for line in lines)
    assert done.stdout.startswith("FITS IN THE 2 STEPS SEEN.")
    assert "What comes after them was not seen." in " ".join(done.stdout.split())


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_stopped_fit_reports_what_is_known_and_leaves_no_process(tmp_path: Path, asked: signal.Signals) -> None:
    script = tmp_path / "program.py"
    script.write_text(FOREVER)
    command = [MEMTRACE, "fit", "--card", "2GiB", "--", sys.executable, script]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(processes_of(running.pid)) < 2:
        time.sleep(0.1)
    time.sleep(3)  # torch is being imported, or the loop has begun: either must end
    processes = processes_of(running.pid)
    running.send_signal(asked)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 128 + asked
    assert out == "" or out.startswith("NOT KNOWN. memtrace fit was stopped")
    assert "memtrace: without a limit ... stopped\n" in err
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--card", "24GB"), "write 24GiB"),
        (("--card", "2GiB", "--steps", "0"), "is not a number of steps"),
        (("--card", "2GiB", "--steps", "5:2"), "is not a number of steps"),
        (("--card", "2GiB", "--vary", "n=1"), "write it as"),
        (("--card", "2GiB", "--vary", "n=1,2"), "the command does not contain {n}"),
        (("--card", "2GiB", "--scale", "n=1"), "fewer than two values"),
        (("--card", "2GiB", "--bogus"), "--bogus"),
    ],
)
def test_invalid_arguments_start_nothing(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    done = fit(tmp_path, "open('ran', 'w')", options=options)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "ran").exists()
