# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a described step on simulated cards, in a process that this one only starts."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memtrace._core.package import PACKAGE, program
from memtrace._estimate import answer, cards_here, description
from memtrace._estimate.answer import DoesNotFit, Estimate, FitAnswer

_MOST_STEPS = 8
_MORE_STEPS_THAN_ARE_RUN = 1_000_000_000
_ANSWERED = (0, 1)
_NOT_KNOWN = 6
# A launcher's variables, which the other process must not get because it runs alone.
_RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def run(job: description.Job, card: str | None, steps: int) -> Estimate:
    """Tries `job` for at least `steps` steps on `card`, or on cards like this process's.

    Raises RuntimeError if the job cannot be described or fails by itself, or memtrace's program is not installed;
    ValueError if `card` describes none.
    """
    spec = card or cards_here.spec()
    found = _fit(job, spec, steps, is_named=card is not None, options=["--no-remedies"])
    return answer.from_fit(found, spec)


def largest_batch(job: description.Job, card: str | None, steps: int) -> int:
    """Finds the largest number of rows in a batch with which `job` fits.

    Raises as `run` does, and DoesNotFit if one row does not fit.
    """
    spec = card or cards_here.spec()
    found = _fit(job, spec, steps, is_named=card is not None, options=["--largest", "rows"], rows=["{rows}"])
    largest = found["scalings"][0]["largest"]
    if largest is None:
        raise DoesNotFit(answer.from_fit(found, spec))
    return int(largest)


def _fit(
    job: description.Job, spec: str, steps: int, *, is_named: bool, options: list[str], rows: Sequence[str] = ()
) -> FitAnswer:
    memtrace = program()
    if memtrace is None:
        raise RuntimeError("memtrace.estimate: the program memtrace is not installed. Install memtrace again.")
    most = max(steps, _MOST_STEPS)
    with tempfile.TemporaryDirectory(prefix="memtrace-estimate-") as folder:
        file = Path(folder) / "step.pickle"
        with file.open("wb") as opened:
            description.write(job, opened)
        # `fit` ends it. A replica that ended by itself would pass for a program that is over.
        replica = [sys.executable, "-m", "memtrace._estimate.replica", str(file), str(_MORE_STEPS_THAN_ARE_RUN), *rows]
        command = [str(memtrace), "fit", "--json", *options, "--steps", f"{steps}:{most}", "--card", spec]
        done = subprocess.run(
            [*command, "--", *replica], env=_environment(is_named), capture_output=True, text=True, check=False
        )
    if done.returncode == _NOT_KNOWN:
        raise RuntimeError(
            f"memtrace.estimate: the peak still rises after {most} steps, so it is not known if the training fits. "
            "Make more steps with steps=N, or look for what the model keeps from step to step."
        )
    if done.returncode not in _ANSWERED:
        _refuse(done.returncode, done.stderr)
    found: FitAnswer = json.loads(done.stdout)
    return found


def _environment(is_named: bool) -> dict[str, str]:
    """Returns the environment of the other process, without memtrace's variables and ranks.

    Its answer is in English, because it is read here and not by a person.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE") and name not in _RANKS}
    for name, separator in (("LD_PRELOAD", ":"), ("PYTHONPATH", os.pathsep)):
        entries = [entry for entry in kept.pop(name, "").split(separator) if entry]
        others = [entry for entry in entries if not entry.startswith(str(PACKAGE))]
        if others:
            kept[name] = separator.join(others)
    if is_named or not os.environ.get("MEMTRACE_CARD"):
        kept.pop("CUDA_VISIBLE_DEVICES", None)  # the specification already describes the visible cards
    return {**kept, "MEMTRACE_LANG": "en"}


def _refuse(status: int, text: str) -> None:
    lines = [line.strip().removeprefix("|").strip() for line in text.splitlines() if line.strip()]
    said = [line.removeprefix("memtrace: ") for line in lines]
    if status == 2 and said:
        raise ValueError(said[0])
    reason = said[-1] if said else f"exit code {status}"
    raise RuntimeError(f"memtrace.estimate: the step itself failed on the simulated card: {reason}")
