# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What host values cost a training step: GPT-2 (124 M) on the simulated card with them, without, and on `meta`.

Usage: host_values_step.py [--steps 25] [--pairs 3]. Needs scenarios/gpt2.py of the corpus (MEMTRACE_CORPUS).

The three alternate, each in a process of its own with our allocator; each gives the median of its steps after the first
three, by wall and by processor time (all threads). Kernels cost nothing in any of them: the ratios are of the host's
work and worst cases. On `meta` nothing is allocated or launched, so it is what torch's own bookkeeping costs.
"""

import argparse
import json
import os

from alternating import alternate, spread, way
from gpt2_scenario import is_there, medians, timed_steps

KINDS = ("on", "off", "meta")


def onto_meta(scenario: str) -> str:
    """The scenario's text with its card replaced, and without the figures that only a card has."""
    text = scenario.replace('"cuda"', '"meta"')
    return text[: text.index("s = torch.cuda.memory_stats()")]


def child(steps: int) -> None:
    """Runs the scenario in this process and prints the seconds of each step as JSON."""
    kind = way()
    if kind != "meta":
        import memtrace

        os.environ["MEMTRACE_HOST_VALUES"] = "1" if kind == "on" else "0"
        memtrace.simulated_card("80GiB")
        memtrace.enable()
    print(json.dumps(timed_steps(steps, onto_meta if kind == "meta" else str)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.steps)
        return
    if not is_there():
        return
    ratios: dict[tuple[str, str], list[float]] = {}
    for steps in alternate(__file__, ["--steps", str(options.steps)], options.pairs, KINDS):
        for clock, on, off, meta in zip(("wall", "processor"), *map(medians, steps), strict=True):
            ratios.setdefault((clock, "on/off"), []).append(on / off)
            ratios.setdefault((clock, "on/meta"), []).append(on / meta)
            print(f"{clock:9}  on {on * 1e3:.2f} ms  off {off * 1e3:.2f} ms  meta {meta * 1e3:.2f} ms", flush=True)
    for (clock, name), values in ratios.items():
        print(f"{clock:9}  {name:7}  {spread(values)}")


if __name__ == "__main__":
    main()
