# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the time of a step that `memtrace fit` estimates for an H100 with the time measured on one, row by row.

Usage: estimated_steps.py [--folder FOLDER] [NAME ...]. Runs the programs of tests/gpu/hour/step_times.py on a simulated
h100-80gb (10 to 60 s each), and prints milliseconds, estimated / measured: the card's by part, the host's, the step's.
"bound" is of the estimate. The ratios below compare pairs of rows. The rules' three constants for the host were chosen
by these rows (docs/design/whole-job.md), so the errors say little about another processor. --folder keeps the answers,
and takes those that are there.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests/gpu/hour"
RECORDING = ROOT / "tests/gpu/recordings/h100-80gb/step_times.jsonl"
MEMTRACE = Path(os.environ.get("MEMTRACE_PROGRAM", Path(sys.executable).parent / "memtrace"))
STEPS = 3
PARTS = ("forward", "backward", "optimizer")
PAIRS = (
    ("llama_1b.bf16.checkpointed.4x2048", "llama_1b.bf16.fused.4x2048"),
    ("llama_1b.bf16.foreach.4x2048", "llama_1b.bf16.fused.4x2048"),
    ("llama_1b.vocabulary_151936.4x2048", "llama_1b.bf16.fused.4x2048"),
    ("resnet50.autocast.64", "resnet50.autocast.channels_last.64"),
)


def child(name: str) -> None:
    """Makes the steps of a program, as step_times.py measures them."""
    sys.path.insert(0, str(PROGRAMS))
    import step_times
    import torch

    import memtrace

    model, optimizer, loss_of = step_times.PROGRAMS[name]()
    for parameter in model.parameters():
        parameter.requires_grad_(parameter.requires_grad and optimizer is not None)
    model.train(optimizer is not None)
    for _ in range(STEPS):
        if optimizer is None:
            with torch.no_grad():
                loss_of()
        else:
            loss_of().backward()
            optimizer.step()
            optimizer.zero_grad()
        memtrace.step()


def estimated(name: str, folder: Path) -> dict[str, Any]:
    """Returns `step_time` of the answer of `memtrace fit`."""
    kept = folder / f"{name}.json"
    if not kept.exists():
        command = [str(MEMTRACE), "fit", "-q", "--json", "--card", "h100-80gb", "--no-remedies", "--watch", "0"]
        command += ["--steps", str(STEPS), "--", sys.executable, __file__, "--child", name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        if not done.stdout:
            raise RuntimeError(f"{name}: {done.stderr}")
        kept.write_text(done.stdout)
    time: dict[str, Any] = json.loads(kept.read_text())["step_time"]
    return time


def seconds_of(time: dict[str, Any], part: str, of: str) -> float:
    """Returns the seconds of the card or the host in a part. What belongs to no part of the recording is forward."""
    phases = {part} if part != "forward" else {p["phase"] for p in time["parts"]} - set(PARTS[1:])
    return sum(p[f"{of}_seconds"] for p in time["parts"] if p["phase"] in phases)


def show(name: str, time: dict[str, Any], row: dict[str, Any]) -> float:
    """Prints a row; returns its error in percent."""
    pairs = [(seconds_of(time, part, "card") * 1e3, row[f"{part}_ms"]) for part in PARTS]
    pairs.append((sum(seconds_of(time, part, "host") for part in PARTS) * 1e3, row["host_ms"]))
    pairs.append((time["seconds"] * 1e3, row["step_ms"]))
    error = 100 * (pairs[-1][0] / pairs[-1][1] - 1)
    figures = "".join(f"{ours:8.1f}/{theirs:6.1f}" for ours, theirs in pairs)
    bound = "bound by launches" if time["bound_by_launches"] else ""
    unknown = " ".join(time["unknown_operators"])
    print(f"{name:36}{figures}{error:+7.0f} %  {time['launches']:6} launches  {bound}  {unknown}", flush=True)
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.names[0])
        return
    folder = options.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    rows = {row["name"]: row for row in map(json.loads, RECORDING.read_text().splitlines()) if "step_ms" in row}
    print("milliseconds: estimated / measured")
    print(f"{'':36}{'forward':>15}{'backward':>15}{'optimizer':>15}{'host':>15}{'step':>15}  error")
    times = {name: estimated(name, folder) for name in rows if not options.names or name in options.names}
    errors = [abs(show(name, time, rows[name])) for name, time in times.items()]
    print(f"{len(errors)} rows: median error {statistics.median(errors):.1f} %, largest {max(errors):.1f} %")
    for one, other in PAIRS:
        if one in times and other in times:
            ours = times[one]["seconds"] / times[other]["seconds"]
            theirs = rows[one]["step_ms"] / rows[other]["step_ms"]
            print(f"{one} / {other}: {ours:.3f}, measured {theirs:.3f}")


if __name__ == "__main__":
    main()
