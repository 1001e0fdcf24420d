# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the answers of `memtrace fit` about the five cases when its trials are made in two ways.

Usage: trial_answers.py [--by forks|at-once] [--trials N] [CASE ...] (a-mend, or A) with the python of an environment
that has memtrace and the frameworks (setup/setup.sh frameworks). The ways are with and without forks, or two and one
at a time. Each case is asked twice as docs/cases asks it, with `--json`. For each it prints how many values of the two
answers were compared, those that differ, and what the runs took. Compared is everything but the seconds that a run
took, the number of forks, and the numbers of processes. The answers stay in build/cases. Exit code 1 if values differ.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "cases"
KEPT = ROOT / "build" / "cases"
sys.path.insert(0, str(EXAMPLES))
from reported_cases import CASES, Case  # noqa: E402

PROCESS = re.compile(r"process \d+")  # the name of one


@dataclass(frozen=True)
class Way:
    """A way to make the trials: its name in sentences, options of `memtrace fit`, and variables."""

    name: str
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


WAYS = {
    "forks": (Way("with forks"), Way("without", variables=(("MEMTRACE_FIT_FORKS", "0"),))),
    "at-once": (Way("two at a time", ("--at-once", "2")), Way("one at a time", ("--at-once", "1"))),
}


@dataclass(frozen=True)
class Asked:
    """An answer (schema memtrace.fit/1), and the seconds of the clock and of the processor that it took."""

    answer: dict[str, Any]
    clock: float
    processor: float

    @property
    def seconds(self) -> float:
        """Returns the median time of a run with a change."""
        return statistics.median([run["seconds"] for run in self.answer["remedies"] if run["was_run"]] or [0])


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ask(case: Case, way: Way, trials: int | None) -> Asked:
    """Asks `memtrace fit` about the case."""
    vary = [word for variation in case.vary for word in ("--vary", variation)]
    limit = [] if trials is None else ["--trials", str(trials)]
    options = ["-q", "--json", "--card", case.card, *vary, *limit, *way.options]
    # The words that make_reports.py uses, so that the answers are about the same program.
    program = ["python", f"examples/cases/{case.script}", *case.options.split()]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("MEMTRACE_FIT_FORKS", None)
    before, begun = children_seconds(), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "memtrace", "fit", *options, "--", *program],
        cwd=ROOT,
        env={**environment, **dict(way.variables)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"{case.name}: memtrace fit ended with status {done.returncode}.\n{done.stderr}")
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{case.name}.{way.name.replace(' ', '-')}.json").write_text(done.stdout)
    return Asked(json.loads(done.stdout), time.monotonic() - begun, children_seconds() - before)


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer without the facts of each run."""
    remedies = [{name: value for name, value in run.items() if name != "seconds"} for run in answer["remedies"]]
    return {**{name: value for name, value in answer.items() if name != "forks"}, "remedies": remedies}


def values(of: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields each single value of a document with its path."""
    if isinstance(of, dict) and of:
        for name, value in of.items():
            yield from values(value, f"{path}.{name}" if path else name)
    elif isinstance(of, list) and of:
        for index, value in enumerate(of):
            yield from values(value, f"{path}[{index}]")
    else:
        yield path, PROCESS.sub("process", of) if isinstance(of, str) else of


def compare(case: Case, ways: tuple[Way, Way], trials: int | None) -> bool:
    """Prints how the two answers about a case compare. False if they differ."""
    asked = [ask(case, way, trials) for way in ways]
    first, second = (dict(values(comparable(each.answer))) for each in asked)
    differing = [
        path
        for path in [*first, *(second.keys() - first.keys())]
        if path not in first or path not in second or first[path] != second[path]
    ]
    forks = asked[0].answer["forks"]
    why = f" ({forks['why_not']})" if forks["why_not"] else ""
    print(f"{case.name}: {len(first)} values compared, {len(differing)} differ; {forks['runs']} runs forked{why}")
    for way, each in zip(ways, asked, strict=True):
        print(
            f"  {way.name}: {each.seconds:.1f} s a run with a change (median), {each.clock:.0f} s in all, "
            f"{each.processor:.0f} s of the processor"
        )
    for path in differing:
        found = (f"{of.get(path, 'absent')!r} {way.name}" for way, of in zip(ways, (first, second), strict=True))
        print(f"  {path}: {', '.join(found)}")
    return not differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--by", choices=WAYS, default="forks", help="what the two ways differ in")
    parser.add_argument("--trials", type=int, help="as of memtrace fit")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    wanted = {name.lower() for name in options.cases}
    asked = [case for case in CASES if not wanted or {case.name, case.name[0]} & wanted]
    equal = [compare(case, WAYS[options.by], options.trials) for case in asked]
    sys.exit(0 if all(equal) else 1)


if __name__ == "__main__":
    main()
