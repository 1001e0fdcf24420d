# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the smallest card on which a scenario completes, with torch's allocators and ours.

Usage: smallest_card.py [--ways native,expandable,memtrace] [NAME ...]. `memtrace bench` gives the first guess.

The scenario is recorded once on a large card: the peak of its live bytes, each block rounded up to 512, is the lower
bound. Then cards are tried by bisection, one process each, to within a granule (2 MiB) or 1/2,000. The script prints
the smallest card with its calls, and those of the last step.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from scenario_card import CORPUS, GRANULE, WAYS, called, load, run, smallest_card

SCENARIOS = {
    "gpt2": "gpt2.py --random-shapes --steps 40",
    "A": "case_a_mend.py --copy share",
    "B": "case_b_grpo.py --lora --group 2 --steps 3",
    "C": "case_c_cogvideo.py --ckpt",
    "D": "case_d_reward.py --lora --seq 512 --batch 4",
    "E": "case_e_resize.py --no-mean",
}
# Imported once for all runs. Not peft and diffusers: they query the card, after which CUDA is unusable in forks.
MODULES = {"A": ["transformers"], "B": ["transformers"], "D": ["transformers"]}
ROOM = 160 << 30


def record(command: str, folder: Path) -> Path:
    """Runs a scenario on a large card under `memtrace run` and returns its trace."""
    trace = folder / "run.trace"
    script, *arguments = command.split()
    card = f"{ROOM >> 30}GiB,context=0MiB"
    start = [sys.executable, "-m", "memtrace", "run", "-q", "-f", "--card", card, "-o", str(trace), "--"]
    scenario = [sys.executable, str(CORPUS / "scenarios" / script), *arguments]
    subprocess.run([*start, *scenario], stdout=subprocess.DEVNULL, timeout=600, check=True)
    return trace


def bounds(command: str) -> tuple[int, int]:
    """Returns the lower bound, and the smallest card of our policy alone."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(record(command, Path(folder)))
        bench = [sys.executable, "-m", "memtrace", "bench", "--allocator", "policy", "--json", trace]
        table = json.loads(subprocess.run(bench, capture_output=True, timeout=300, check=True).stdout)["tables"][0]
    return table["lower_bound"], table["rows"][0]["smallest_card"]


def measure(name: str, way: str, bound: int, replayed: int) -> None:
    """Prints the line of one scenario with one allocator."""
    run_on = partial(run, SCENARIOS[name], way=way)
    tolerance = max(GRANULE, bound // 2000)
    completes, fails = replayed, bound - 1
    while not run_on(completes).completed:
        fails, completes = completes, completes + max(GRANULE, completes // 32)
    if way == "memtrace" and completes - 4 * tolerance > fails and not run_on(completes - 4 * tolerance).completed:
        fails = completes - 4 * tolerance
    card, last = smallest_card(run_on, fails, completes, tolerance)
    print(
        f"{name:5} {way:10}  bound {bound / 2**30:7.3f} GiB  card {card / 2**30:7.3f}  ratio {card / bound:.4f}  "
        f"{called(last.calls)}; last step: {called(last.steps[-1]) or 'none'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("names", nargs="*", default=["gpt2"])
    options = parser.parse_args()
    if not (CORPUS / "scenarios").is_dir():
        print(f"skipped: no scenarios in {CORPUS} (set MEMTRACE_CORPUS)")
        return
    load(*{module for name in options.names for module in MODULES.get(name, [])})
    for name in options.names:
        bound, replayed = bounds(SCENARIOS[name])
        print(f"{name:5} policy     card {replayed / 2**30:7.3f}  ratio {replayed / bound:.4f}")
        for way in options.ways.split(","):
            measure(name, way, bound, replayed)


if __name__ == "__main__":
    main()
