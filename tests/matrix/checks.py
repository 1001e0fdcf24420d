# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The checks that run with each torch minor in its environment; each returns its figures."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from environment import ROOT, CheckError, Environment, SkipError, last_json

sys.path.insert(0, str(ROOT / "tests"))
from support.corpus import CORPUS

PROGRAMS = Path(__file__).resolve().parent / "programs"
PEER = CORPUS / "peer"
CUPTI_TRAINING = ROOT / "tests/interpose/torch/recorded/cupti_training.py"
NATIVE_POLICY = ROOT / "tests/peer/native_policy.txt"
CARD_LAUNCHER = ROOT / "tests/interpose/simulated_card/card_launcher.py"
# Passes with torch's own allocator up to 2.7, where it wants four segments of cudaMalloc; ours has two that grow.
SEGMENTS_COUNTED = "test_cuda::TestBlockStateAbsorption::test_allocate_in_thread_to_pool"
LEAST_TESTS = 100  # Of the 238 tests at least so many must pass with torch's own allocator.
KINDS = ("gpt", "images", "mixed")
# The request of `gpt` that fails on a card of 1 GiB with every torch: a copy of the logits for the loss.
FAILED_REQUEST = {
    "bytes": 20_412_240,
    "line": "training.py:41",
    "at": {"step": 1, "micro_batch": 1, "phase": "forward"},
}


def check_allocator(here: Environment, trace: str, expected: str) -> None:
    """Raises CheckError unless the trace says that this allocator served the program."""
    report = here.call("memtrace", "report", "--json", trace)
    if report.returncode != 0:
        raise CheckError(f"{trace}: {report.stderr.strip()[-160:]}")
    served = json.loads(report.stdout)["run"]["allocator"]
    if served != expected:
        raise CheckError(f"{trace}: {served} served the program, not {expected}")


def training(kind: str, *width: object) -> list[object]:
    """Returns the command of one of the small trainings."""
    return ["python", PROGRAMS / "training.py", kind, *width]


def check_record(here: Environment) -> object:
    """A training runs out of memory; the report names the request and its ledger adds up to the card."""
    done = here.call("memtrace", "run", "-q", "-f", "--card", "1GiB", "-o", "oom.trace", "--", *training("gpt", 1024))
    if "OutOfMemoryError" not in done.stderr:
        raise CheckError(f"no out-of-memory: {done.stderr.strip()[-160:]}")
    report = json.loads(here.call("memtrace", "report", "--json", "oom.trace").stdout)
    ledger = {entry["name"]: entry["bytes"] for entry in report["ledger"]}
    if sum(ledger.values()) != report["card"]["bytes"]:
        raise CheckError(f"the ledger's sum is {sum(ledger.values())}, the card has {report['card']['bytes']}")
    request = {key: report["request"][key] for key in FAILED_REQUEST}
    if request != FAILED_REQUEST or report["verdict"]["cause"] != "capacity":
        raise CheckError(f"{report['verdict']['cause']}: {request}, not {FAILED_REQUEST}")
    roles = {row["name"] for row in report["peak"]["by_role"]}
    if not {"parameter", "activation"} <= roles:
        raise CheckError(f"roles are {sorted(roles)}")
    return {"cause": report["verdict"]["cause"], "ledger": ledger, "roles": sorted(roles)}


def check_peaks(here: Environment) -> object:
    """The peak of requested bytes is the same with our allocator and with torch's own, to the byte."""
    peaks = {}
    for kind in KINDS:
        ours = here.run("--card", "24GiB", "-o", f"{kind}.trace", program=training(kind))
        native = here.run("--card", "24GiB", "--allocator", "native", "-o", "n.trace", program=training(kind))
        check_allocator(here, f"{kind}.trace", "memtrace")
        check_allocator(here, "n.trace", "native")
        peaks[kind] = {"ours": ours, "native": native}
        if ours["requested_bytes"] != native["requested_bytes"]:
            raise CheckError(f"{kind}: {ours['requested_bytes']} with ours, {native['requested_bytes']} with torch's")
    return peaks


def check_expandable(here: Environment) -> object:
    """torch's own allocator with expandable segments runs on the card, with the same peak of requested bytes."""
    setting = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    options = ("--card", "24GiB", "--allocator", "native", "-o", "e.trace")
    expandable = here.run(*options, program=training("gpt"), variables=setting)
    usual = here.run(*options, program=training("gpt"))
    if expandable["requested_bytes"] != usual["requested_bytes"]:
        raise CheckError(f"{expandable['requested_bytes']} and {usual['requested_bytes']}")
    return expandable


def check_graphs(here: Environment) -> object:
    """A captured graph has its own pool of the same size with both allocators."""
    program = ["python", PROGRAMS / "graphs.py"]
    ours = here.run("--card", "24GiB", "-o", "g.trace", program=program)
    native = here.run("--card", "24GiB", "--allocator", "native", "-o", "g.trace", program=program)
    if ours != native or not ours["in_pool"]:
        raise CheckError(f"{ours} with ours, {native} with torch's")
    return ours


def check_history(here: Environment) -> object:
    """A dump of torch's own history can be read, with both allocators."""
    found = {}
    for allocator in ("memtrace", "native"):
        program = ["python", PROGRAMS / "history.py", "dump.pickle"]
        here.call("memtrace", "run", "-q", "--no-trace", "--card", "24GiB", "--allocator", allocator, "--", *program)
        done = here.call("memtrace", "report", "--json", "dump.pickle")
        if done.returncode != 0:
            raise CheckError(done.stderr.strip()[-160:])
        found[allocator] = json.loads(done.stdout)["peak"]["bytes"]
        (here.folder / "dump.pickle").unlink()
    if found["memtrace"] != found["native"]:
        raise CheckError(f"{found['memtrace']} with ours, {found['native']} with torch's")
    return found


def check_fit(here: Environment) -> object:
    """`memtrace fit` reports that a training does not fit a card that is smaller than its peak without a limit."""
    done = here.call("memtrace", "fit", "--json", "--card", "1GiB", "--", *training("gpt", 1024))
    if not done.stdout.strip().startswith("{"):
        raise CheckError(done.stderr.strip()[-160:] or f"exit status {done.returncode}")
    answer = json.loads(done.stdout)
    if answer["fits"] or answer["peak_allocated"] <= 1 << 30:
        raise CheckError(f"fits: {answer['fits']}, peak {answer['peak_allocated']}")
    return answer


def check_estimate(here: Environment) -> object:
    """`memtrace.estimate` returns the peak before a training begins."""
    done = here.call("python", PROGRAMS / "estimate.py")
    answer = last_json(done)
    if not answer["fits"]:
        raise CheckError(str(answer))
    return answer


def check_ranks(here: Environment) -> object:
    """Two ranks meet over the card's NCCL."""
    launch = ["python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", PROGRAMS / "ranks.py"]
    return here.run("--card", "2x24GiB", program=launch)


def check_cupti(here: Environment) -> object:
    """The card's activities are also recorded: its kernels are tied to the blocks that they use."""
    here.call(
        "memtrace", "run", "-q", "-f", "--cupti", "--card", "24GiB", "-o", "c.trace", "--", "python", CUPTI_TRAINING
    )
    said = json.loads(here.call("memtrace", "stats", "--json", "c.trace").stdout)["activities"]
    if (said["state"], said["dropped"], said["gaps"]) != ("on", 0, 0) or said["tied_kernels"] <= said["kernels"] / 2:
        raise CheckError(str({key: said.get(key) for key in ("state", "reason", "dropped", "kernels", "tied_kernels")}))
    return said


def torch_tests(here: Environment, *launcher: object) -> dict[str, str]:
    """Runs PyTorch's test_cuda.py without comparing device tensors' values; returns each test's outcome."""
    out = here.folder / "tests.jsonl"
    setting = {"RELAX": "1", "MEMTRACE_CARD_FORK": "copy", "TMO": "120"}
    done = here.call(*launcher, PEER / "forkrun.py", "test_cuda", out, variables=setting)
    if done.returncode != 0:
        raise CheckError(done.stderr.strip()[-160:])
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return {row["id"]: row["o"] for row in rows}


def check_torch_tests(here: Environment) -> object:
    """PyTorch's own tests that pass with torch's allocator also pass with ours.

    The file is 2.6.0's for every minor: tests of functions that torch changed since fail with both.
    """
    if not PEER.is_dir():
        raise SkipError("no corpus of peers (set MEMTRACE_CORPUS to its folder)")
    here.install("expecttest", "hypothesis", "psutil", "pytest")
    ours = ("memtrace", "run", "-q", "--no-trace", "--card", "24GiB", "--host-values", "off", "--", "python")
    found = {"native": torch_tests(here, "python", CARD_LAUNCHER, "24GiB"), "ours": torch_tests(here, *ours)}
    passed = {who: {name for name, outcome in rows.items() if outcome == "passed"} for who, rows in found.items()}
    exempt = {line.split()[0] for line in NATIVE_POLICY.read_text().splitlines() if line and not line.startswith("#")}
    exempt.add(SEGMENTS_COUNTED)
    lost = passed["native"] - passed["ours"] - exempt
    if lost or len(passed["native"]) < LEAST_TESTS:
        raise CheckError(
            f"{len(passed['native'])} pass with torch's, {len(passed['ours'])} with ours; not {sorted(lost)}"
        )
    return {"native": len(passed["native"]), "ours": len(passed["ours"]), "exempt": sorted(exempt - passed["ours"])}


def measure_pair(here: Environment) -> object:
    """Measures an allocation of 512 bytes and its free through torch, recorded by ours and with torch's own."""
    done = here.call("python", ROOT / "bench/torch_pair.py", "--pairs", "3")
    found = re.search(r"hot 512 B +ours +(\d+) ns +native +(\d+) ns +ratio min (\S+) +median (\S+)", done.stdout)
    if done.returncode != 0 or found is None:
        raise CheckError(done.stderr.strip()[-160:])
    return {"ours_ns": int(found[1]), "native_ns": int(found[2]), "ratio": float(found[4])}


CHECKS: dict[str, Callable[[Environment], object]] = {
    "record": check_record,
    "peaks": check_peaks,
    "expandable": check_expandable,
    "graphs": check_graphs,
    "history": check_history,
    "fit": check_fit,
    "estimate": check_estimate,
    "two ranks": check_ranks,
    "CUPTI": check_cupti,
    "torch's tests": check_torch_tests,
    "pair": measure_pair,
}
