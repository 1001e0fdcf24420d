# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The options of `python -m memtrace.estimate_program`."""

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from memtrace._estimate.problem import EXIT_USAGE

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
OPTIMIZERS = ("adamw", "adamw-fused", "adamw-8bit", "adam", "sgd", "adafactor", "none")
NO_OPTIMIZER = "none"


@dataclass(frozen=True)
class Options:
    """The options. Numbers are counts: sequences, tokens, LoRA's rank (0: none), optimizer steps."""

    folder: Path
    dtype: str | None  # a key of DTYPES; None: the config's
    batch: int
    seq: int | None
    shapes: dict[str, tuple[int, ...]]
    optimizer: str
    lora: int
    checkpointing: bool
    frozen_copy: bool
    steps: int

    @property
    def is_trained(self) -> bool:
        """True if it is trained, not only run forward."""
        return self.optimizer != NO_OPTIMIZER


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"memtrace: {message}. --help lists the options.\n")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    found = re.fullmatch(r"(\w+)=([1-9]\d*(?:x[1-9]\d*)*)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a shape; write it as hidden_states=4x17x16x32x32")
    return found[1], tuple(int(size) for size in found[2].split("x"))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="memtrace estimate",
        description="Builds a model from its config alone, without weights, and trains it for some steps.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", type=Path, metavar="CONFIG_DIR", help="a folder with a config.json (or a pipeline's)")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("--dtype", choices=DTYPES, help="type of the parameters (default: that of the config, else fp32)")
    add("--batch", type=_count, default=1, metavar="N", help="samples in a step (default: 1)")
    add(
        "--seq",
        type=_count,
        metavar="N",
        help="tokens of text in a sample (default: 512, or fewer if the model takes fewer)",
    )
    add(
        "--shape",
        type=_shape,
        action="append",
        default=[],
        metavar="NAME=AxB",
        help="whole shape of an input; may be repeated",
    )
    add("--optimizer", choices=OPTIMIZERS, default="adamw", help="none: forward only (default: adamw)")
    add("--lora", type=_count, default=0, metavar="RANK", help="train only peft's LoRA adapters of this rank")
    add("--checkpointing", action="store_true", help="the model's own gradient checkpointing")
    add("--frozen-copy", action="store_true", help="also run a frozen copy in each step (reference, distillation)")
    add("--steps", type=_count, default=8, metavar="N", help="most optimizer steps (default: 8)")
    return parser


def parse(arguments: list[str]) -> Options:
    """Parses the command line; ends the process with code 2 and one sentence if it is wrong."""
    parser = _parser()
    words = vars(parser.parse_args(arguments))
    options = Options(shapes=dict(words.pop("shape")), **words)
    if not options.is_trained and (options.lora or options.checkpointing or options.frozen_copy):
        parser.error(
            "--optimizer none runs forward only, but --lora, --checkpointing and --frozen-copy are for training"
        )
    return options
