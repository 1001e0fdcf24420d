# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of recording for a training step: GPT-2 (124 M) on the simulated card, where kernels cost nothing.

Usage: gpt2_step.py [--turns 100] [--against native|unrecorded|history|memtrace|unobserved] [--cupti]. Needs
scenarios/gpt2.py of the corpus (MEMTRACE_CORPUS).

A: our allocator, recording every event with Python stacks. B: torch's native allocator without history or memtrace; the
same with torch's own history (`_record_memory_history(stacks="python")`); or ours with recording off, as with `memtrace
run --no-trace`. With --cupti A also records the card's activities, and should be compared with A without --cupti
(--against memtrace). With --against unobserved both record activities with --spill, and B without the observer of
torch's operations that A then has. Both run at the same time and take turns of five steps. The first step of a turn
finds the caches of the processor cold and is left out; the script prints the median, over the turns, of the ratio A/B
of the other four. It says nothing about a GPU, where kernels hide most of the cost. Here the host's work is all there
is, so the ratio is the worst case. The ratio of processor time (all threads) is also printed: unlike wall time it
repeats on a busy machine.
"""

import argparse
import itertools
import json
import statistics

from alternating import in_turn, prepare, wait_for_turn, way
from scenario_steps import Steps, is_there, timed_steps

STEPS_A_TURN = 5
AGAINST = ("native", "unrecorded", "history", "memtrace", "unobserved")


def child(turns: int) -> None:
    """Runs the scenario in this process and prints the seconds of each step as JSON."""
    prepare()
    if way() == "history":
        import torch

        torch.cuda.memory._record_memory_history(stacks="python")
    if way() == "unobserved":
        import torch

        torch.zeros(1, device="cuda")  # memtrace's allocator serves the process, and observes it, from here on
        torch._C._autograd._clear_callbacks()
    step = itertools.count()

    def before() -> None:
        if next(step) % STEPS_A_TURN == 0:
            wait_for_turn()

    print(json.dumps(timed_steps("gpt2", turns * STEPS_A_TURN, before=before)))


def of_turns(steps: Steps) -> Steps:
    """Returns the mean wall and processor seconds of each turn but the first, which includes one-time work."""
    sums = []
    for begin in range(STEPS_A_TURN, len(steps), STEPS_A_TURN):
        wall, processor = zip(*steps[begin + 1 : begin + STEPS_A_TURN], strict=True)
        sums.append((sum(wall) / len(wall), sum(processor) / len(processor)))
    return sums


def way_of_ours(options: argparse.Namespace) -> str:
    if options.against == "unobserved":
        return "observed"
    return "cupti" if options.cupti else "memtrace"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--against", choices=AGAINST, default="native")
    parser.add_argument("--cupti", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.turns)
        return
    if not is_there("gpt2"):
        return
    ways = (way_of_ours(options), options.against)
    ours, others = in_turn(__file__, ["--turns", str(options.turns)], ways, options.turns)
    for number, clock in enumerate(("wall", "processor")):
        pairs = [(a[number], b[number]) for a, b in zip(of_turns(ours), of_turns(others), strict=True)]
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
        print(f"{clock:9}  ours {a * 1e3:.2f} ms  {options.against} {b * 1e3:.2f} ms", end="  ")
        print(f"ratio of a turn: median {middle:.3f}, half of them {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
