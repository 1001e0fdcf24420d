# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Memory under movable tags leaves the card and comes back at the same addresses."""

from pathlib import Path

import pytest
from support.programs import GIB, MIB, ROOT, memtrace, on_card

PROGRAM = Path(__file__).with_name("sleeping_owners.py")
GRPO = Path(__file__).with_name("grpo_with_inference.py")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    tests = str(ROOT / "tests")
    done = on_card(PROGRAM, tmp_path_factory.mktemp("sleep"), options=("--events", "lazy"), PYTHONPATH=tests)
    assert done.report()["simulated"]["first_faults"] == []
    return done


@pytest.fixture(scope="module")
def told(done):
    return done.printed()


def test_sleep_frees_the_card_and_a_wake_brings_everything_back(told):
    slept, woke = told["slept"], told["woke"]
    assert slept["weight"] <= slept["allocated"] <= slept["weight"] + 16384
    assert slept["card"] == slept["moved"][0] == 10 * MIB
    assert slept["asleep"] == ["host", 10 * MIB, slept["moved"][1]]
    assert woke["moved"][0] == 10 * MIB
    assert woke["same address"]
    assert woke["same contents"]
    assert abs(woke["allocated"]) < 512
    assert woke["asleep"] == {}
    assert woke["released"] == slept["moved"][1] > 0
    assert told["zeros"] == 0


def test_other_tensors_fit_meanwhile(told):
    assert not told["14 GiB beside 14 GiB"]
    assert told["14 GiB while they sleep"]
    assert told["same address of 14 GiB"]


def test_the_report_has_what_sleeps_beside_the_card(done):
    report = done.report()  # at the peak 15 GiB are in use, and 14 GiB sleep
    ledger = {row["name"]: row["bytes"] for row in report["ledger"]}
    assert 15 * GIB <= ledger["live"] < 15 * GIB + 64 * MIB
    assert sum(ledger.values()) == report["card"]["bytes"]
    assert ledger["unexplained"] == 0
    assert {"name": "asleep", "bytes": 14 * GIB} in report["off_card"]
    slept = {(row["kind"], row["to"], row["times"]): row["bytes"] for row in report["moved"]}
    assert slept["slept", "inference", 1] == slept["woke", "inference", 1] == 14 * GIB
    text = " ".join(memtrace("report", "--verbose", str(done.trace)).out.split())
    assert "BESIDE THE CARD GiB asleep 14.00 a wake needs as much of the card" in text
    assert "'inference' slept once, in step 2: 14.00 GiB left the card, and 14.00 GiB came back." in text
    assert memtrace("verify", str(done.trace)).status == 0


def test_refusals_say_what_to_do(told):
    assert told["slept"]["twice"] == (
        "RuntimeError: memtrace.sleep: 'policy' is already asleep. Call memtrace.wake('policy') first."
    )
    assert "memtrace: 'policy' is asleep, so nothing can be allocated under its tag." in told["slept"]["allocation"]
    touched = "was given memory of 'policy', which is asleep. Call memtrace.wake('policy') first."
    assert touched in told["slept"]["touched"]
    assert "was given memory of 'policy', which is asleep." in told["slept"]["copied"]
    assert told["slept"]["like"] == "no error"
    assert told["woke"]["twice"] == "RuntimeError: memtrace.wake: 'policy' is not asleep."
    assert told["wake of 14 GiB beside 15 GiB"].startswith(
        "OutOfMemoryError: memtrace.wake: 'inference' needs 14.0 GiB; the card has 8."
    )
    assert told["unknown"] == (
        "ValueError: memtrace.wake: no memory has the movable tag 'polcy'. "
        "Movable tags: cache, graphs, inference, kv, policy, reference, weights (cpu backup)."
    )
    assert told["keep"] == "ValueError: memtrace.sleep: keep is 'host' or 'nothing', not 'disk'."
    assert told["in a capture"] == "RuntimeError: memtrace.sleep: a graph is being captured. Call it after the capture."


def test_model_moves_with_its_ties(told):
    model = told["model"]
    assert model["bytes"] == 2 * MIB
    assert model["same parameters"]
    assert model["tied"]
    assert model["same contents"]


def test_graph_replays_after_a_wake(told):
    assert told["replay after a wake"] == "ran"  # without a fault of the card


def test_calls_of_torch_memory_saver_are_served(told):
    saver = told["saver"]
    assert saver["paused"] == ["cache", "weights (cpu backup)"]
    assert "is already asleep" in saver["twice"]
    assert saver["backup"]
    assert saver["contents"]
    assert saver["zeros"]
    assert saver["addresses"]
    assert saver["asleep"] == {}
    assert saver["disk"].startswith("NotImplementedError")


SMALL = """
import json, memtrace, torch
with memtrace.tag("policy", movable=True):
    policy = torch.ones(3000).cuda()
try:
    memtrace.sleep("policy")
    memtrace.wake("policy")
    print(json.dumps(policy.cpu().sum().item()))
except RuntimeError as error:
    print(json.dumps(str(error)))
"""


TWO_CARDS = """
import json, memtrace, torch
MIB = 1 << 20
with memtrace.tag("policy", movable=True):
    halves = [torch.full((8 * MIB,), 1.0 + card).to(f"cuda:{card}") for card in (0, 1)]
memtrace.sleep("policy")
free = torch.cuda.mem_get_info(0)[0]
filling = torch.empty(torch.cuda.mem_get_info(1)[0] - 16 * MIB, dtype=torch.uint8, device="cuda:1")
try:
    memtrace.wake("policy")
    error = ""
except torch.OutOfMemoryError as refused:
    error = str(refused)
told = {"error": error, "asleep": memtrace.asleep()["policy"].card_bytes, "free": torch.cuda.mem_get_info(0)[0] == free}
del filling
told["woke"] = memtrace.wake("policy").card_bytes
told["contents"] = [half.cpu().unique().tolist() for half in halves]
print(json.dumps(told))
"""


def test_a_wake_that_one_card_refuses_leaves_all_asleep(tmp_path):
    (tmp_path / "cards.py").write_text(TWO_CARDS)
    told = on_card(tmp_path / "cards.py", tmp_path, card="2x2GiB").printed()
    assert "It stays asleep." in told["error"]
    assert told["asleep"] == told["woke"] == 64 * MIB and told["free"]
    assert told["contents"] == [[1.0], [2.0]]


@pytest.mark.slow
def test_limit_of_the_host_refuses_a_copy(tmp_path):
    told = on_card(SMALL, tmp_path, MEMTRACE_HOST_LIMIT="8KiB").printed()
    assert told == "memtrace.sleep: the copy of 'policy' needs 12.0 KiB; the host's limit leaves 8.0 KiB."


@pytest.mark.slow
def test_host_that_refuses_to_pin_memory_is_told(tmp_path):
    done = on_card(SMALL, tmp_path, MEMTRACE_CARD_FAILURES="cuMemHostAlloc@1=2")
    assert done.printed() == 3000
    assert "The host refuses to pin memory, so copies of sleeping memory are slower." in done.err


@pytest.mark.slow
def test_grpo_fits_if_its_inference_copy_sleeps(tmp_path):
    done = on_card(GRPO, tmp_path, "--sleep", seconds=500)
    assert done.out.splitlines()[-1] == "done"
    assert done.out.count("woke 8046772224") == 2
    assert done.report()["simulated"]["first_faults"] == []


@pytest.mark.slow
def test_grpo_runs_out_if_its_inference_copy_stays(tmp_path):
    done = on_card(GRPO, tmp_path, expect=1, seconds=500)
    assert "OutOfMemoryError" in done.err


@pytest.mark.slow
def test_torchs_own_allocator_is_named(tmp_path):
    program = tmp_path / "native.py"
    program.write_text(
        "import memtrace, torch\n"
        "try:\n"
        "    with memtrace.tag('policy', movable=True): torch.empty(1, device='cuda')\n"
        "except RuntimeError as error:\n"
        "    print(__import__('json').dumps(str(error)))\n"
    )
    told = on_card(program, tmp_path, options=("--allocator", "native")).printed()
    assert told == "memtrace.tag: movable=True needs memtrace's allocator; torch's own serves this process."


@pytest.mark.slow
def test_an_allocator_that_sleeps_by_itself_is_left_alone(tmp_path):
    program = Path(__file__).with_name("sleeping_source.py")
    done = on_card(
        program,
        tmp_path,
        card="1300MiB,context=500MiB",
        options=("--events", "lazy"),
        PYTHONPATH=str(ROOT / "tests"),
    )
    told = done.printed()
    assert told["gone"] == 82 * MIB  # 16 of a tensor, 64 that are free in the pool, and the cache
    assert told["out of memory"]
    assert told["same"]
    assert told["segments"] == 0
    assert done.report()["simulated"]["first_faults"] == []
    ledger = {row["name"]: row["bytes"] for row in done.report()["ledger"]}
    assert ledger["unexplained"] < 0, ledger  # what sleeps counts as in use
