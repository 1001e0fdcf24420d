# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a training step: GPT-2 (124 M) on the simulated card, where kernels cost nothing.

Usage: gpt2_step.py [--steps 40] [--pairs 5] [--against native|unrecorded]. Needs scenarios/gpt2.py of the corpus
(MEMTRACE_CORPUS).

A: our allocator, recording every event with Python stacks. B: torch's native allocator, no history, no memtrace; or
ours with recording off, as by `memtrace run --no-trace`. The two alternate in one run; each prints the median time of
its steps after the first three, and the ratio A/B is of those medians. It says nothing about a GPU: there, kernels hide
most of it. The host's work is all there is on the card, so the ratio is the worst case. The same of processor time (all
threads) is printed too: on a busy machine it repeats, wall time does not.
"""

import argparse
import json

from alternating import alternate, prepare, spread
from scenario_steps import is_there, medians, timed_steps


def child(steps: int) -> None:
    """Runs the scenario in this process and prints the seconds of each step as JSON."""
    prepare()
    print(json.dumps(timed_steps("gpt2", steps)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--against", choices=("native", "unrecorded"), default="native")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.steps)
        return
    if not is_there("gpt2"):
        return
    ratios: dict[str, list[float]] = {"wall": [], "processor": []}
    ways = ("memtrace", options.against)
    for ours, other in alternate(__file__, ["--steps", str(options.steps)], options.pairs, ways):
        for (clock, so_far), a, b in zip(ratios.items(), medians(ours), medians(other), strict=True):
            so_far.append(a / b)
            print(f"{clock:9}  ours {a * 1e3:.2f} ms  {ways[1]} {b * 1e3:.2f} ms  ratio {a / b:.3f}", flush=True)
    for clock, all_of_them in ratios.items():
        print(f"{clock:9}  ratio: {spread(all_of_them)}")


if __name__ == "__main__":
    main()
