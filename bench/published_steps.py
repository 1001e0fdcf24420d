# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares published throughputs with the time of a step that `memtrace fit` estimates.

Usage: published_steps.py [--python PYTHON] [--titan FOLDER --data FOLDER [--ao FOLDER]] [ROW ...]

The rows of bert-large are those of transformers' page "Methods and tools for efficient training on a single GPU"
(v4.27), with its script: a Trainer and 512 samples of 512 tokens, on a V100 of 16 GB with transformers of January 2022.
So attention is made of products and a softmax here, and AdamW is a loop over the parameters, as it was then. PYTHON has
transformers and accelerate (.venv-frameworks).

The rows of 8 billion parameters are those of torchtitan's benchmarks/llama3_h100_202412_torchtitan.md that were run
without torch.compile, because there is no time for compiled kernels. FOLDERs: torchtitan at commit 9dec370, torchao at
eab345c, and a tokenizer.model beside texts/, a data set for c4_test. The published cards were H100 with slower memory
(2.4 of 3.35 TB/s) and 500 of 700 W, so the estimate should be faster; the difference is not only an error of the rules.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MEMTRACE = Path(os.environ.get("MEMTRACE_PROGRAM", Path(sys.executable).parent / "memtrace"))
QUIET = ("fit", "-q", "--json", "--no-remedies", "--watch", "0")
TITAN_CARDS = "8xh100-80gb,size=95GiB"
TITAN_TOKENS = 2 * 8192  # of a card in a step
TITAN = {8: 5762, 128: 5605}  # tokens a second and card, by the number of cards; FSDP, eager

ACCUMULATED: dict[str, Any] = {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 4}
CHECKPOINTED = {**ACCUMULATED, "gradient_checkpointing": True}
# Options of the Trainer, and samples a second. Each step has four samples.
BERT: dict[str, tuple[dict[str, Any], float]] = {
    "bert-plain": ({"per_device_train_batch_size": 4}, 8.86),
    "bert-accumulated": (ACCUMULATED, 7.75),
    "bert-checkpointed": (CHECKPOINTED, 5.99),
    "bert-fp16": ({"per_device_train_batch_size": 4, "fp16": True}, 18.64),
    "bert-checkpointed-fp16": ({**CHECKPOINTED, "fp16": True}, 10.09),
    "bert-adafactor": ({"per_device_train_batch_size": 4, "optim": "adafactor"}, 7.96),
    "bert-checkpointed-fp16-adafactor": ({**CHECKPOINTED, "fp16": True, "optim": "adafactor"}, 9.06),
}
BERT_SAMPLES = 4


def train_bert(options: dict[str, Any]) -> None:
    """Trains as the page does. The weights of bert-large are not needed for the time of a step."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    class Samples(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
        """512 samples of 512 tokens."""

        def __len__(self) -> int:
            return 512

        def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
            return {"input_ids": torch.randint(100, 30_000, (512,)), "labels": torch.tensor(0)}

    large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    model = BertForSequenceClassification(BertConfig(**large, attn_implementation="eager")).cuda()
    usual = {"output_dir": "tmp", "num_train_epochs": 1, "report_to": "none", "save_strategy": "no"}
    adam = None if "optim" in options else torch.optim.AdamW(model.parameters(), lr=5e-5, foreach=False)
    arguments = TrainingArguments(**usual, **options, disable_tqdm=True)
    Trainer(model, arguments, train_dataset=Samples(), optimizers=(adam, None)).train()


def step_time(command: Sequence[str], **variables: str) -> dict[str, Any]:
    """Returns the time in the answer of `memtrace fit`."""
    environment = dict(os.environ, HF_HUB_OFFLINE="1", **variables)
    done = subprocess.run(
        [str(MEMTRACE), *command], env=environment, capture_output=True, text=True, timeout=2400, check=False
    )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    time: dict[str, Any] | None = json.loads(done.stdout)["step_time"]
    return time or {"seconds": None, "uncounted_kernels": "unknown"}


def bert_time(name: str, python: str) -> dict[str, Any]:
    return step_time([*QUIET, "--card", "v100-16gb", "--steps", "3", "--", python, __file__, "--train", name])


def titan_time(world: int, options: argparse.Namespace) -> dict[str, Any]:
    """Returns the time of rank 0 of the job."""
    job = str(world) if world <= 8 else f"{world // 8}x8"
    command = [
        *(*QUIET, "--card", TITAN_CARDS, "--world", job, "--ranks", "0", "--steps", "3"),
        *("--", options.python, str(options.titan / "train.py")),
        *("--job.config_file", str(options.titan / "train_configs/llama3_8b.toml"), "--metrics.log_freq", "1"),
        *("--model.tokenizer_path", str(options.data / "tokenizer.model"), "--training.dataset", "c4_test"),
        *("--training.dataset_path", str(options.data / "texts"), "--training.steps", "4"),
        *("--training.batch_size", "2"),
    ]
    paths = [str(path) for path in (options.titan, options.ao) if path is not None]
    search = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])
    return step_time(command, PYTHONPATH=search, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")


def show(name: str, time: dict[str, Any], amount: int, published: float) -> float | None:
    """Prints a row; returns the error of the step's time in percent, if there is a time."""
    print(json.dumps(time), file=sys.stderr)
    if time["seconds"] is None:
        print(f"{name:34} no time ({time['uncounted_kernels']} uncounted kernels)", flush=True)
        return None
    measured = amount / published
    error = 100 * (float(time["seconds"]) / measured - 1)
    bound = "bound by launches" if time["bound_by_launches"] else ""
    print(f"{name:34}{time['seconds']:9.3f} s, published {measured:7.3f} s  {error:+5.0f} %  {bound}", flush=True)
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--titan", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--ao", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--train", choices=BERT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train_bert(BERT[options.train][0])
        return
    rows = options.rows or [*BERT, *(f"titan-{world}" for world in TITAN if options.titan)]
    if unknown := set(rows) - {*BERT, *(f"titan-{world}" for world in TITAN)}:
        parser.error(f"there is no row {unknown.pop()}")
    errors = [show(name, bert_time(name, options.python), BERT_SAMPLES, BERT[name][1]) for name in rows if name in BERT]
    for world, published in TITAN.items():
        if f"titan-{world}" in rows:
            errors.append(show(f"titan-{world}", titan_time(world, options), TITAN_TOKENS, published))
    known = [abs(error) for error in errors if error is not None]
    if known:
        print(f"{len(known)} rows: median error {statistics.median(known):.0f} %, largest {max(known):.0f} %")


if __name__ == "__main__":
    main()
