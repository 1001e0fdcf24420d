# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the cheapest plan that `memtrace fit` finds with the best of an exhaustive search over the same changes.

usage: cheapest_plans.py --card CARD [--margin N] [--most-changes N] -- python train.py ...

Every set of changes that found something to change is run, by itself and with its degree lowered by bisection until one
layer less does not fit. What may alter results is left out, as the plan leaves it out. Prints each set, and the time of
the plan as a multiple of the best one's.
"""

import argparse
import itertools
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

# Changes that exclude each other.
EXCLUSIVE = (
    {"checkpoint", "checkpoint_products", "activations_on_host"},
    {"fused", "loop"},
)
# These may alter results, or cost another card.
LEFT_OUT = {"adam8bit", "bf16", "lora", "second_card", "balanced"}

Change = tuple[str, int]  # hook and degree; 0: none
Answer = dict[str, Any]  # schema memtrace.fit/1


def fit(options: list[str], command: list[str]) -> Answer:
    """Returns the answer of `memtrace fit`."""
    whole = ["memtrace", "fit", "--json", "--watch", "0", *options, "--", *command]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{' '.join(whole)}\n{done.stderr}")
    return dict(json.loads(done.stdout))


class Exhaustive:
    """All sets of changes, each in its least degree that fits."""

    def __init__(self, options: list[str], command: list[str]) -> None:
        """`options` have the card, less the margin."""
        self._options = options
        self._command = command
        self.runs = 0

    def seconds(self, changes: tuple[Change, ...]) -> float | None:
        """Returns the estimated time of a step with these changes; nothing if they do not fit."""
        self.runs += 1
        words = ",".join(f"{hook}={degree}" if degree else hook for hook, degree in changes)
        command = ["env", f"MEMTRACE_FIT_CHANGES={words}", *self._command]
        answer = fit([*self._options, "--no-remedies"], command)
        return float(answer["step_cost"]["seconds"]) if answer["fits"] else None

    def least(self, hooks: tuple[str, ...], layers: dict[str, int]) -> tuple[float, tuple[Change, ...]] | None:
        """Returns the time of the set in its least degree, and the set; nothing if it does not fit in any."""
        by_degree = [hook for hook in hooks if layers.get(hook, 1) > 1]
        full = tuple((hook, layers[hook] if hook in by_degree else 0) for hook in hooks)
        best = self.seconds(full)
        if best is None:
            return None
        chosen = full
        for hook in by_degree:
            fails, fits = 0, dict(chosen)[hook]
            while fits - fails > 1:
                middle = (fails + fits) // 2
                tried = tuple((name, middle if name == hook else degree) for name, degree in chosen)
                taken = self.seconds(tried)
                if taken is None:
                    fails = middle
                else:
                    fits, best, chosen = middle, taken, tried
        return best, chosen


def sets_of(hooks: list[str], most: int) -> Iterator[tuple[str, ...]]:
    """Yields the sets of at most so many hooks that do not exclude each other."""
    for size in range(1, most + 1):
        for chosen in itertools.combinations(hooks, size):
            if all(len(group & set(chosen)) < 2 for group in EXCLUSIVE):
                yield chosen


def tried_alone(answer: Answer) -> dict[str, int]:
    """Returns the hooks that found something to change, with their places."""
    places: dict[str, int] = {}
    for point in answer["frontier"]:
        for change in point["changes"]:
            if change["hook"] and change["hook"] not in LEFT_OUT:
                places[change["hook"]] = change["of"] or 1
    by_degree = EXCLUSIVE[0]
    return {hook: of if hook in by_degree else 1 for hook, of in places.items()}


def reduced(card: str, margin: int) -> str:
    """Returns the card without the margin; `card` is in GiB or MiB."""
    number, unit = float(card[:-3]), card[-3:]
    mib = number * (1024 if unit == "GiB" else 1)
    return f"{int(mib * (100 - margin) / 100)}MiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--card", required=True, help="such as 64GiB or 960MiB")
    parser.add_argument("--margin", type=int, default=5)
    parser.add_argument("--most-changes", type=int, default=3)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    begun = time.monotonic()
    found = fit(["--card", options.card, "--margin", str(options.margin)], options.command)
    wall = time.monotonic() - begun
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"fit: {found['recommended']}; {wall:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of the processor")
    if found["cheapest"] is None or found["cheapest"]["plan"] is None:
        sys.exit("fit found no plan")
    plan = found["remedies"][found["cheapest"]["plan"]]
    layers = tried_alone(found)
    search = Exhaustive(["--card", reduced(options.card, options.margin), "--margin", "0"], options.command)
    results = []
    for hooks in sets_of(sorted(layers), options.most_changes):
        least = search.least(hooks, layers)
        print(f"  {'+'.join(hooks)}: {'does not fit' if least is None else f'{least[0] * 1e3:.2f} ms {least[1]}'}")
        if least is not None:
            results.append(least)
    best = min(results)
    ratio = plan["step_cost"]["seconds"] / best[0]
    print(f"best of {search.runs} runs: {best[0] * 1e3:.2f} ms {best[1]}; the plan takes {ratio:.3f} times as long")


if __name__ == "__main__":
    main()
