# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the throughput that torchtitan published with the time of a step that `memtrace fit` estimates.

Usage: published_steps.py --titan FOLDER --data FOLDER [--ao FOLDER] [--python PYTHON]. The rows are those of
benchmarks/llama3_h100_202412_torchtitan.md that were run without torch.compile: there is no time for compiled kernels.
FOLDERs: torchtitan at commit 9dec370, torchao at eab345c, and a tokenizer.model beside texts/, a data set for c4_test.

The published cards were H100 with slower memory (2.4 of 3.35 TB/s) and 500 of 700 W, and torch was a nightly build of
December 2024. So the estimate should be faster than the figure; the difference is not only an error of the rules.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MEMTRACE = Path(os.environ.get("MEMTRACE_PROGRAM", Path(sys.executable).parent / "memtrace"))
CARDS = "8xh100-80gb,size=95GiB"
TOKENS = 2 * 8192  # of a card in a step
PUBLISHED = {8: 5762, 128: 5605}  # tokens a second and card, by the number of cards; FSDP, eager


def answer(world: int, options: argparse.Namespace) -> dict[str, Any]:
    """Returns what `memtrace fit` says of rank 0 of the job."""
    job = str(world) if world <= 8 else f"{world // 8}x8"
    command = [
        *(str(MEMTRACE), "fit", "-q", "--json", "--card", CARDS, "--world", job, "--ranks", "0", "--no-remedies"),
        *("--steps", "3", "--watch", "0", "--", options.python, str(options.titan / "train.py")),
        *("--job.config_file", str(options.titan / "train_configs/llama3_8b.toml"), "--metrics.log_freq", "1"),
        *("--model.tokenizer_path", str(options.data / "tokenizer.model"), "--training.dataset", "c4_test"),
        *("--training.dataset_path", str(options.data / "texts"), "--training.steps", "4"),
        *("--training.batch_size", "2"),
    ]
    paths = [str(path) for path in (options.titan, options.ao) if path is not None]
    variables = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True", HF_HUB_OFFLINE="1")
    variables["PYTHONPATH"] = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=2400, check=False)
    if not done.stdout:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--titan", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--ao", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--world", type=int, choices=PUBLISHED, action="append")
    options = parser.parse_args()
    for world in options.world or PUBLISHED:
        time = answer(world, options)["step_time"]
        print(json.dumps(time), file=sys.stderr)
        if time is None or time["seconds"] is None:
            print(f"8B, {world} cards: no time ({time and time['uncounted_kernels']} uncounted kernels)")
            continue
        ours, theirs = TOKENS / time["seconds"], PUBLISHED[world]
        error = f"{100 * (theirs / ours - 1):+.0f} % of the time"
        print(f"8B, {world} cards: {ours:.0f} tokens a second and card, published {theirs}: {error}", flush=True)


if __name__ == "__main__":
    main()
