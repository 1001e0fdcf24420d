# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of torchtitan's table of December 2024 (benchmarks/llama3_h100_202412_torchtitan.md) and their options."""

from dataclasses import dataclass

COMPILE = "--training.compile"
FLOAT8 = (
    f"{COMPILE} --float8.enable_float8_linear --float8.enable_fsdp_float8_all_gather "
    "--float8.precompute_float8_dynamic_scale_for_fsdp"
)
ASYNC_TP = "--experimental.enable_async_tensor_parallel"
FULL = "--activation_checkpoint.mode full"
STAGES = "--experimental.pipeline_parallel_degree 8"
INTERLEAVED = "--experimental.pipeline_parallel_schedule Interleaved1F1B"
# 405B has stages of 64 ranks each; the fullest rank counts.
FIRST_OF_STAGES = ",".join(str(64 * stage) for stage in range(8))


@dataclass(frozen=True)
class Row:
    """A row: `flavor` names torchtitan's own configuration, to which `options` are added."""

    name: str
    published: float  # GiB reserved, of the fullest rank
    world: int
    flavor: str
    options: str
    ranks: str = "0"


def _context(parts: int, length: int) -> str:
    return f"--experimental.context_parallel_degree {parts} --training.seq_len {length}"


def _of_8b() -> list[Row]:
    rows = []
    for world, figures in ((8, (82.4, 77.0, 76.8)), (128, (67.0, 62.0, 61.8))):
        for name, options, published in zip(
            ("eager", "compile", "float8"), ("", COMPILE, FLOAT8), figures, strict=True
        ):
            options = f"--training.batch_size 2 {options}".strip()
            rows.append(Row(f"8b-{world}-{name}", published, world, "8b", options))
    for parts, length, published in ((1, 32768, 83.9), (2, 65536, 84.2), (4, 131072, 84.0), (8, 262144, 84.5)):
        options = f"--training.batch_size 1 {FULL} {FLOAT8} {_context(parts, length)}"
        rows.append(Row(f"8b-cp{parts}", published, 8, "8b", options))
    return rows


def _of_70b() -> list[Row]:
    options = f"--training.batch_size 16 {FLOAT8}"
    return [
        Row("70b-2d", 71.9, 256, "70b", options),
        Row("70b-async", 67.6, 256, "70b", f"{options} {ASYNC_TP}"),
    ]


def _of_405b() -> list[Row]:
    # torchtitan's configuration has compile, float8 and asynchronous tensor parallelism.
    rows = [
        Row("405b-1f1b", 82.5, 512, "405b", f"--training.batch_size 32 {STAGES}", FIRST_OF_STAGES),
        Row("405b-interleaved", 72.7, 512, "405b", f"--training.batch_size 32 {STAGES} {INTERLEAVED}", FIRST_OF_STAGES),
    ]
    for parts, length, published in ((1, 32768, 75.3), (2, 65536, 75.9), (4, 131072, 77.1), (8, 262144, 84.9)):
        options = f"--training.batch_size 8 {STAGES} {_context(parts, length)}"
        rows.append(Row(f"405b-cp{parts}", published, 512, "405b", options, FIRST_OF_STAGES))
    return rows


ROWS = {row.name: row for row in (*_of_8b(), *_of_70b(), *_of_405b())}
