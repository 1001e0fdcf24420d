# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Times each step of the corpus's scenarios, for the benchmarks of a step."""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.corpus import CORPUS

SCENARIOS = {
    "gpt2": ("gpt2.py", []),
    "lora": ("case_d_reward.py", ["--lora", "--seq", "512", "--batch", "4"]),
}
WARM_UP = 3

Steps = list[tuple[float, float]]


def timed_steps(name: str, steps: int, on_meta: bool = False, before: Callable[[], object] = lambda: None) -> Steps:
    """Runs one of SCENARIOS in this process; returns the wall and processor seconds (all threads) of each step.

    With `on_meta` its tensors are torch's `meta` ones instead of the card's. `before` is called before each step.
    """
    file, arguments = SCENARIOS[name]
    path = CORPUS / "scenarios" / file
    sys.path.insert(0, str(path.parent))
    import case_util

    seconds: Steps = []
    guarded = case_util.guarded

    def timed(tag: str, function: Callable[[], object]) -> bool:
        before()
        wall, processor = time.perf_counter(), time.process_time()
        done: bool = guarded(tag, function)
        seconds.append((time.perf_counter() - wall, time.process_time() - processor))
        return done

    case_util.guarded = timed
    text = _onto_meta(path.read_text(), case_util) if on_meta else path.read_text()
    sys.argv = [file, *arguments, "--steps", str(steps)]
    exec(compile(text, file, "exec"), {"__name__": "__main__"})
    return seconds


# On meta no value can be read: transformers reads a two-dimensional mask, but uses a four-dimensional one as it is.
META = {
    '"cuda"': '"meta"',
    ".cuda()": '.to("meta")',
    "torch.ones_like(ids)": 'torch.ones(a.batch, 1, a.seq, a.seq, dtype=torch.bool, device="meta")',
}


def _onto_meta(text: str, case_util: ModuleType) -> str:
    """Returns the scenario's text with its card replaced by `meta`."""
    import torch

    case_util.report = lambda *arguments: None
    case_util.on_meta.__defaults__ = (torch.bfloat16, "meta")
    for card, meta in META.items():
        text = text.replace(card, meta)
    return text.split("s = torch.cuda.memory_stats()")[0]


def medians(steps: Steps) -> tuple[float, float]:
    """Returns the median wall and processor seconds of the steps after the warm-up."""
    walls, processors = zip(*steps[WARM_UP:], strict=True)
    return statistics.median(walls), statistics.median(processors)


def is_there(name: str) -> bool:
    """True if the corpus has the scenario; prints a line if not."""
    path = CORPUS / "scenarios" / SCENARIOS[name][0]
    if not path.exists():
        print(f"skipped: no scenarios/{path.name} in {CORPUS} (set MEMTRACE_CORPUS)")
    return path.exists()
