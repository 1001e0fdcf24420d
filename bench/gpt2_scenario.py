# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""scenarios/gpt2.py of the corpus with a clock around each of its steps, for the benchmarks of a step."""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.corpus import CORPUS

SCENARIO = CORPUS / "scenarios/gpt2.py"
WARM_UP = 3

Steps = list[tuple[float, float]]


def timed_steps(steps: int, change: Callable[[str], str] = str) -> Steps:
    """Runs the scenario in this process; gives the wall and processor seconds (all threads) of each step.

    `change` may rewrite its text.
    """
    sys.path.insert(0, str(SCENARIO.parent))
    import case_util

    seconds: Steps = []
    guarded = case_util.guarded

    def timed(name, function):
        wall, processor = time.perf_counter(), time.process_time()
        result = guarded(name, function)
        seconds.append((time.perf_counter() - wall, time.process_time() - processor))
        return result

    case_util.guarded = timed
    sys.argv = [SCENARIO.name, "--steps", str(steps)]
    exec(compile(change(SCENARIO.read_text()), SCENARIO.name, "exec"), {"__name__": "__main__"})
    return seconds


def medians(steps: Steps) -> tuple[float, float]:
    """Gives the median wall and processor seconds of the steps after the warm-up."""
    walls, processors = zip(*steps[WARM_UP:], strict=True)
    return statistics.median(walls), statistics.median(processors)


def is_there() -> bool:
    """Whether the corpus has the scenario; says so if not."""
    if not SCENARIO.exists():
        print(f"skipped: no scenarios/gpt2.py in {CORPUS} (set MEMTRACE_CORPUS)")
    return SCENARIO.exists()
