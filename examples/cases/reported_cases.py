# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The cases in docs/cases: how they ran out of memory, the questions to `memtrace fit`, and further runs."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Run:
    """A further run of a case's script; its output is kept as docs/cases/CASE.NAME.txt."""

    name: str
    card: str
    options: str = ""
    settings: str = ""  # PYTORCH_CUDA_ALLOC_CONF
    processes: int = 1
    reports: bool = False  # keeps the output of memtrace report instead


@dataclass(frozen=True)
class Case:
    """A script and the card on which it ran out of memory."""

    name: str
    script: str
    card: str
    vary: tuple[str, ...] = ()
    options: str = ""  # the script's options, with {words} of vary among them
    runs: tuple[Run, ...] = field(default=())


SMALL = "23.68GiB,cc=8.6"

CASES = [
    Case(
        "a-mend",
        "mend_editing.py",
        "40GiB",
        ("copy=functional,share",),
        "--copy {copy}",
        (
            Run("two-cards", "2x40GiB", "--edited-device cuda:1"),
            Run("share", "32GiB", "--copy share"),
        ),
    ),
    Case(
        "b-grpo",
        "grpo.py",
        "24GiB",
        ("group=4,2",),
        "--group {group}",
        (
            Run("lora", "24GiB", "--lora --checkpointing"),
            Run("4bit", "24GiB", "--lora --checkpointing --bits 4"),
            Run("8bit", "24GiB", "--lora --checkpointing --bits 8 --new 32 --steps 1"),
            Run("fragmented", "24GiB", "--lora --group 2", reports=True),
            Run("expandable", "24GiB", "--lora --group 2 --steps 3", "expandable_segments:True"),
            Run("two-processes", "24GiB", "--lora --checkpointing --steps 1", processes=2, reports=True),
        ),
    ),
    Case(
        "c-cogvideox",
        "cogvideox_unlearning.py",
        "46.07GiB,cc=8.6",
        (),
        "",
        (
            Run("checkpointing", "46.07GiB,cc=8.6", "--checkpointing", reports=True),
            Run("80gib", "80GiB", "--checkpointing --optimizer fused"),
        ),
    ),
    Case(
        "d-reward",
        "reward_model.py",
        "64GiB",
        (),
        "",
        (
            Run("fused", "64GiB", "--optimizer fused"),
            Run("lora", "64GiB", "--lora --batch 4"),
        ),
    ),
    Case(
        "e-resize",
        "resize_embeddings.py",
        f"{SMALL},other=3.36GiB",
        (),
        "",
        (
            Run("no-mean", f"{SMALL},other=3.36GiB", "--no-mean"),
            Run("map-bf16", f"4x{SMALL}", "--device-map auto"),
            Run("map-fp32", f"4x{SMALL}", "--device-map auto --dtype float32"),
        ),
    ),
]
