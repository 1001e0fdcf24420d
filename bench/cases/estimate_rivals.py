# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares other tools' estimates of the five cases with `memtrace fit` and the peak of the run on a large card.

Usage: estimate_rivals.py [CASE ...]. Needs the frameworks (setup/setup.sh frameworks). Prints a table in Markdown, in
GiB; errors are percent of the peak that torch's own allocator allocated in a run of one step on a card of 300 GiB.

- accelerate: the column "Training using Adam" of `accelerate estimate-memory` (for E, which does not train, "Total
  Size") for 16 bits, computed with that command's own functions: it needs a hub, while here the model comes from its
  configuration. Its only input is the trained model: no second one, no sequence, no batch, nothing frozen.
- MemTracker: torch.distributed._tools.mem_tracker over fake tensors (tracked_by_torch.py).
- fit: the allocated peak that `memtrace fit` finds without a limit.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from case_figures import EXAMPLES, peaks

sys.path.insert(0, str(EXAMPLES))
import cogvideox_unlearning
import grpo
import mend_editing
import resize_embeddings
from accelerate.commands.estimate import estimate_training_usage
from accelerate.utils import calculate_maximum_sizes
from transformers import AutoModelForSequenceClassification, MistralConfig
from weightless import described

GIB = 2**30
MEMTRACE = [sys.executable, "-m", "memtrace"]
TRACKER = str(Path(__file__).with_name("tracked_by_torch.py"))
ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1"}
FEW = "--new 16"  # tokens per answer: the tracker takes seconds for each
MOST_SECONDS = 240

MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "mend_editing.py": lambda: mend_editing.Qwen2ForCausalLM(mend_editing.CONFIG),
    "grpo.py": lambda: grpo.Qwen3ForCausalLM(grpo.CONFIG),
    "cogvideox_unlearning.py": cogvideox_unlearning.make_transformer,
    "reward_model.py": lambda: AutoModelForSequenceClassification.from_config(MistralConfig(num_labels=1)),
}
COMMANDS = {
    "A": "mend_editing.py --steps 1",
    "A, shared": "mend_editing.py --steps 1 --copy share",
    "B": f"grpo.py --steps 1 {FEW}",
    "B, LoRA": f"grpo.py --steps 1 {FEW} --lora --checkpointing",
    "C": "cogvideox_unlearning.py --steps 1",
    "C, checkpointing": "cogvideox_unlearning.py --steps 1 --checkpointing",
    "D": "reward_model.py --steps 1",
    "D, LoRA": "reward_model.py --steps 1 --lora --batch 4",
    "E": "resize_embeddings.py",
}


def accelerate_says(script: str) -> float:
    """Returns the GiB for 16 bits, from the one of the command's two columns that fits the script."""
    if script == "resize_embeddings.py":
        total, _ = calculate_maximum_sizes(resize_embeddings.describe(torch.float32))
        return total / 2 / GIB
    total, _ = calculate_maximum_sizes(described(MODELS[script], torch.float32))
    return max(estimate_training_usage(total, "float16").values()) / GIB


def printed_on_card(*command: str) -> str:
    """Returns the output of a program on a simulated card that is large enough."""
    with tempfile.TemporaryDirectory() as folder:
        start = [*MEMTRACE, "run", "-q", "--allocator", "native", "--card", "300GiB", "-o", f"{folder}/run.trace"]
        limited = ["timeout", str(MOST_SECONDS), *start, "--", sys.executable, *command]
        done = subprocess.run(limited, env=ENVIRONMENT, capture_output=True, text=True)
    return f"not done after {MOST_SECONDS} s" if done.returncode == 124 else done.stdout + done.stderr


def tracker_says(command: list[str]) -> float | str:
    """Returns the GiB, or why there is no figure."""
    printed = printed_on_card(TRACKER, *command).strip().splitlines()
    for line in printed:
        if line.isdecimal():
            return int(line) / GIB
    return re.sub(r" at 0x\w+|[^\w .,:'()-]", "", printed[-1])[:80] if printed else "no output"


def fit_says(command: list[str]) -> float:
    """Returns the GiB allocated at the peak, on the card where it is highest."""
    question = [*MEMTRACE, "fit", "-q", "--json", "--no-remedies", "--card", "300GiB", "--", sys.executable, *command]
    answer = json.loads(subprocess.run(question, env=ENVIRONMENT, stdout=subprocess.PIPE, timeout=900).stdout)
    return max(card["peak_allocated"] for card in answer["cards"]) / GIB


def timed(function: Callable[[list[str]], float | str], command: list[str], truth: float) -> str:
    """Returns a cell of the table: the figure, its error, and the seconds that it took."""
    start = time.monotonic()
    said = function(command)
    seconds = time.monotonic() - start
    return f"{said} ({seconds:.0f} s)" if isinstance(said, str) else f"{cell(said, truth)}, {seconds:.0f} s"


def cell(said: float, truth: float) -> str:
    error = round(100 * (said / truth - 1), 1) + 0.0  # + 0.0 turns -0.0 into 0.0
    return f"{said:.3f} ({error:+.1f} %)"


def main() -> None:
    print("| case | peak of the run | accelerate estimate-memory | MemTracker | memtrace fit |\n|---|---|---|---|---|")
    for name, text in COMMANDS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        script, *arguments = text.split()
        command = [str(EXAMPLES / script), *arguments]
        truth = max(allocated for allocated, _ in peaks(printed_on_card(*command)).values())
        cells = [cell(accelerate_says(script), truth), timed(tracker_says, command, truth)]
        cells.append(timed(fit_says, command, truth))
        print(f"| {name} `{text}` | {truth:.3f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
