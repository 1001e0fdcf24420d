# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a training step: GPT-2 (124 M) on the simulated card, where kernels cost nothing.

Usage: gpt2_step.py [--steps 100] [--against native|unrecorded|history|memtrace] [--cupti]. Needs
scenarios/gpt2.py of the corpus (MEMTRACE_CORPUS).

A: our allocator, recording every event with Python stacks. B: torch's native allocator, no history, no memtrace; the
same with torch's own history (`_record_memory_history(stacks="python")`); or ours with recording off, as by
`memtrace run --no-trace`. With --cupti A records what the card does, too; B is then best the same without it
(--against memtrace). Both live at the same time and take their steps in turn; printed is the median, over the
pairs of steps after the first three, of the ratio A/B. It says nothing about a GPU: there, kernels hide most of it. The
host's work is all there is on the card, so the ratio is the worst case. The same of processor time (all threads) is
printed too: on a busy machine it repeats, wall time does not.
"""

import argparse
import json
import statistics

from alternating import in_turn, prepare, wait_for_turn, way
from scenario_steps import WARM_UP, is_there, timed_steps


def child(steps: int) -> None:
    """Runs the scenario in this process and prints the seconds of each step as JSON."""
    prepare()
    if way() == "history":
        import torch

        torch.cuda.memory._record_memory_history(stacks="python")
    print(json.dumps(timed_steps("gpt2", steps, before=wait_for_turn)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--against", choices=("native", "unrecorded", "history", "memtrace"), default="native")
    parser.add_argument("--cupti", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    steps = WARM_UP + options.steps
    if options.child:
        child(steps + 1)  # the last one is not in turn
        return
    if not is_there("gpt2"):
        return
    ours_way = "cupti" if options.cupti else "memtrace"
    ours, others = in_turn(__file__, ["--steps", str(options.steps)], (ours_way, options.against), steps)
    for number, clock in enumerate(("wall", "processor")):
        pairs = [(a[number], b[number]) for a, b in zip(ours[WARM_UP:steps], others[WARM_UP:steps], strict=True)]
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
        print(f"{clock:9}  ours {a * 1e3:.2f} ms  {options.against} {b * 1e3:.2f} ms", end="  ")
        print(f"ratio of a pair: median {middle:.3f}, half of them {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
