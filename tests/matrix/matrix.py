# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tries the wheel with every torch minor that it serves: matrix.py WHEEL FOLDER [MINOR ...].

For each minor an environment is made in FOLDER (5 GB), with PyPI's torch and the wheel and nothing else of memtrace,
used, and removed. Every program runs on the simulated card. The answer is a table, a row a minor; the exit status is 1
if a cell of it is not `ok`. FOLDER/MINOR.json keeps what was measured.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = HERE / "programs"
KINDS = ("gpt", "images", "mixed")


class CheckError(Exception):
    """What a cell says in place of `ok`."""


class Environment:
    """A fresh environment with one torch and the wheel."""

    def __init__(self, folder: Path, torch: str, wheel: Path) -> None:
        """Makes it; raises CheckError if a package cannot be had."""
        self.folder = folder
        self.python = folder / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        for packages in ([f"torch=={torch}", "numpy"], ["--no-deps", str(wheel)]):
            command = [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
            made = subprocess.run(command, check=False, capture_output=True, text=True)
            if made.returncode != 0:
                raise CheckError(f"pip: {made.stderr.strip()[-200:]}")

    def call(self, *command: object, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command of this environment, guarded, and gives what it wrote and its exit status."""
        program = [str(self.folder / "bin" / str(command[0])), *map(str, command[1:])]
        guard = [sys.executable, str(ROOT / "tests/support/guard.py"), "--seconds", "600", "--processes", "40"]
        settings = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTRACE", "PYTHON"))}
        settings["PATH"] = f"{self.folder / 'bin'}:{settings['PATH']}"
        return subprocess.run(
            [*guard, "--memory-gib", "12", "--", *program],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=settings | (variables or {}),
        )

    def run(
        self, *options: object, program: list[object], variables: dict[str, str] | None = None
    ) -> dict[str, object]:
        """Runs a program under `memtrace run`; gives the JSON line that it printed."""
        done = self.call("memtrace", "run", "-q", "-f", *options, "--", *program, variables=variables)
        return last_json(done)


def last_json(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """Reads the last line as JSON; raises CheckError with the last line of stderr where there is none."""
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    said = [line for line in done.stderr.splitlines() if "unrecorded" in line or "could not" in line]
    if done.returncode != 0 or not lines or said:
        wrong = said or done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise CheckError(wrong[0][:160])
    return json.loads(lines[-1])


def check_allocator(here: Environment, trace: str, expected: str) -> None:
    """Raises CheckError unless the trace says that this allocator served the program."""
    report = here.call("memtrace", "report", "--json", trace)
    if report.returncode != 0:
        raise CheckError(f"{trace}: {report.stderr.strip()[-160:]}")
    served = json.loads(report.stdout)["run"]["allocator"]
    if served != expected:
        raise CheckError(f"{trace}: {served} served the program, not {expected}")


def training(kind: str, *width: object) -> list[object]:
    """The command of one of the small trainings."""
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
    """A captured graph has its own pool with both allocators, of the same bytes."""
    program = ["python", PROGRAMS / "graphs.py"]
    ours = here.run("--card", "24GiB", "-o", "g.trace", program=program)
    native = here.run("--card", "24GiB", "--allocator", "native", "-o", "g.trace", program=program)
    if ours != native or not ours["in_pool"]:
        raise CheckError(f"{ours} with ours, {native} with torch's")
    return ours


def check_history(here: Environment) -> object:
    """What torch's own history dumps is read back, with both allocators."""
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
    """`memtrace fit` says that a training does not fit a card that is smaller than its peak without a limit."""
    done = here.call("memtrace", "fit", "--json", "--card", "1GiB", "--", *training("gpt", 1024))
    if not done.stdout.strip().startswith("{"):
        raise CheckError(done.stderr.strip()[-160:] or f"exit status {done.returncode}")
    answer = json.loads(done.stdout)
    if answer["fits"] or answer["peak_allocated"] <= 1 << 30:
        raise CheckError(f"fits: {answer['fits']}, peak {answer['peak_allocated']}")
    return answer


def check_estimate(here: Environment) -> object:
    """`memtrace.estimate` says the peak before a training begins."""
    done = here.call("python", PROGRAMS / "estimate.py")
    answer = last_json(done)
    if not answer["fits"]:
        raise CheckError(str(answer))
    return answer


def check_ranks(here: Environment) -> object:
    """Two ranks meet over the card's NCCL."""
    launch = ["python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", PROGRAMS / "ranks.py"]
    return here.run("--card", "2x24GiB", program=launch)


CHECKS: dict[str, Callable[[Environment], object]] = {
    "record": check_record,
    "peaks": check_peaks,
    "expandable": check_expandable,
    "graphs": check_graphs,
    "history": check_history,
    "fit": check_fit,
    "estimate": check_estimate,
    "two ranks": check_ranks,
}


def pinned() -> dict[str, str]:
    """Maps each minor that has a shim to the version whose headers it was built with."""
    found = {}
    for lock in (ROOT / "setup" / "headers").glob("torch-*.lock"):
        version = re.search(r"^torch==(\S+)", lock.read_text(), re.M)
        assert version, f"{lock} pins no torch"
        found[lock.stem.removeprefix("torch-")] = version.group(1)
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def try_minor(minor: str, version: str, wheel: Path, folder: Path) -> dict[str, str]:
    """Gives a word a check: `ok`, or what was wrong."""
    place = folder / f"torch-{minor}"
    shutil.rmtree(place, ignore_errors=True)
    cells: dict[str, str] = {}
    measured: dict[str, object] = {}
    try:
        here = Environment(place, version, wheel)
        for name, check in CHECKS.items():
            try:
                measured[name] = check(here)
                cells[name] = "ok"
            except (CheckError, KeyError, ValueError) as error:
                cells[name] = f"{type(error).__name__ if not isinstance(error, CheckError) else ''} {error}".strip()
            print(f"torch {version}: {name}: {cells[name]}", flush=True)
    except CheckError as error:
        cells = {"environment": str(error)}
    finally:
        shutil.rmtree(place, ignore_errors=True)
    (folder / f"{minor}.json").write_text(json.dumps({"cells": cells, "measured": measured}, indent=1))
    return cells


def main() -> int:
    """Tries the minors that the command line names, or all."""
    if len(sys.argv) < 3:
        sys.exit("usage: matrix.py WHEEL FOLDER [MINOR ...]")
    wheel, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    known = pinned()
    rows = {}
    for minor in sys.argv[3:] or known:
        if minor not in known:
            sys.exit(f"matrix.py: there is no shim for torch {minor}; there are {', '.join(known)}")
        rows[minor] = try_minor(minor, known[minor], wheel, folder)
    print("\n| torch | " + " | ".join(CHECKS) + " |\n|---|" + "---|" * len(CHECKS))
    for minor, cells in rows.items():
        print(f"| {minor} | " + " | ".join(cells.get(name, cells.get("environment", "-")) for name in CHECKS) + " |")
    return 0 if all(word == "ok" for cells in rows.values() for word in cells.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
