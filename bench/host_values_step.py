# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of host values for a step on the simulated card: with them, without, and the same step on `meta`.

Usage: host_values_step.py [gpt2 | lora] [--steps 25] [--pairs 3]. gpt2 is GPT-2 (124 M), lora a LoRA of Mistral-7B with
4 texts of 512; both are scenarios of the corpus (MEMTRACE_CORPUS).

The three alternate, each in a process of its own with our allocator; each reports the median of its steps after the
first three, in wall and in processor time (all threads). Kernels cost nothing in any of them, so the ratios compare the
host's work and are worst cases. On `meta` nothing is allocated or launched: it shows the cost of torch's bookkeeping.
"""

import argparse
import json
import os

from alternating import alternate, spread, way
from scenario_steps import SCENARIOS, is_there, medians, timed_steps

KINDS = ("on", "off", "meta")


def child(scenario: str, steps: int) -> None:
    """Runs the scenario in this process and prints the seconds of each step as JSON."""
    kind = way()
    if kind != "meta":
        import memtrace

        os.environ["MEMTRACE_HOST_VALUES"] = "1" if kind == "on" else "0"
        memtrace.simulated_card("80GiB")
        memtrace.enable()
    print(json.dumps(timed_steps(scenario, steps, on_meta=kind == "meta")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="?", choices=SCENARIOS, default="gpt2")
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.scenario, options.steps)
        return
    if not is_there(options.scenario):
        return
    ratios: dict[tuple[str, str], list[float]] = {}
    arguments = [options.scenario, "--steps", str(options.steps)]
    for steps in alternate(__file__, arguments, options.pairs, KINDS):
        for clock, on, off, meta in zip(("wall", "processor"), *map(medians, steps), strict=True):
            ratios.setdefault((clock, "on/off"), []).append(on / off)
            ratios.setdefault((clock, "on/meta"), []).append(on / meta)
            print(f"{clock:9}  on {on * 1e3:.2f} ms  off {off * 1e3:.2f} ms  meta {meta * 1e3:.2f} ms", flush=True)
    for (clock, name), values in ratios.items():
        print(f"{clock:9}  {name:7}  {spread(values)}")


if __name__ == "__main__":
    main()
