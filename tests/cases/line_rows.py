# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lines, roles and the ledger."""

from case_row import NATIVE, Row
from expectations import (
    GIB,
    MIB,
    completes,
    ends_with,
    free_is_as_printed,
    holds,
    is_silent_about,
    ledger_is_sound,
    outside,
    prints,
    runs_out,
    says,
    says_nothing_of,
)

EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
QUIET_SHIM = is_silent_about("expandable_segments not supported")


def _lines(script: str, bytes_by_line: dict[int, int]) -> tuple:
    return tuple(holds(count, line=f"{script}:{line}") for line, count in bytes_by_line.items())


ROWS = [
    Row(
        "d01_lines.py",
        "4GiB",
        "Each allocation at the top level has its own line.",
        (
            completes(),
            *_lines(
                "d01_lines.py", {3: 3_072_000, 4: 16_000_000, 5: 30 * MIB, 6: 40 * MIB, 7: 192_000_000, 8: 40 * MIB}
            ),
        ),
    ),
    Row(
        "d02_lines.py",
        "4GiB",
        "Each allocation in a function has its own line; what the helper makes is its line's.",
        (
            completes(),
            *_lines(
                "d02_lines.py", {3: 3_072_000, 4: 16_000_000, 5: 40 * MIB, 6: 16_000_000, 7: 40 * MIB, 10: 100 * MIB}
            ),
        ),
    ),
    Row(
        "d03_lines.py",
        "4GiB",
        "Each allocation at the top level has its own line.",
        (
            completes(),
            *_lines("d03_lines.py", {2: 12 * MIB, 3: 20 * MIB, 4: 12 * MIB, 5: 40 * MIB, 6: 36 * MIB, 8: 44 * MIB}),
        ),
    ),
    Row(
        "d04_context.py",
        "2GiB",
        "What is free is what mem_get_info says; the context counts.",
        (completes(), free_is_as_printed("\\[(\\d+), \\d+\\]", unit=MIB)),
    ),
    Row(
        "top_free.py 1",
        "8GiB",
        "What is free is what mem_get_info says; the context counts.",
        (completes(), free_is_as_printed("torch says free ([\\d.]+) GiB", unit=GIB)),
    ),
    Row(
        "c18_graph_per_length.py",
        "8GiB",
        "Compiled code belongs to the script's line and the compiled region, not to inductor's file.",
        (
            completes(),
            says("c18_graph_per_length.py:11"),
            says_nothing_of("torchinductor_\\w+/", "/tmp/\\S+\\.py:\\d+"),
        ),
        reported="pytorch#188150",
    ),
    # torch rounds pinned memory up to a power of two.
    Row(
        "c19_pinned_power.py",
        "4GiB",
        "2 GiB of pinned memory are line 3's.",
        (completes(), outside(2 * GIB, "c19_pinned_power.py:3")),
        reported="LMCache#1147",
    ),
    Row(
        "c25_gap_after_empty.py",
        "8GiB",
        "What is called cached can be given back; nothing left behind is negative.",
        (completes(), ledger_is_sound(), says_nothing_of("left behind -")),
        reported="pytorch#173382",
    ),
    Row(
        "c16_mha_fastpath.py fast",
        "8GiB",
        "Nothing left behind is negative.",
        (completes(), ledger_is_sound(), says_nothing_of("left behind -", " -\\d+\\.\\d MiB")),
        reported="pytorch#166166",
    ),
    Row(
        "c16_mha_fastpath.py slow",
        "8GiB",
        "Nothing left behind is negative.",
        (completes(), ledger_is_sound(), says_nothing_of("left behind -", " -\\d+\\.\\d MiB")),
        reported="pytorch#166166",
    ),
    Row(
        "d05_expand_native.py",
        "8GiB",
        "Our shim does not speak of expandable segments in a run that uses them.",
        (completes(), QUIET_SHIM),
        allocator=NATIVE,
        environment=EXPANDABLE,
    ),
    Row(
        "c01_big_block_split.py",
        "13GiB",
        "With expandable segments torch's own allocator completes, and our shim is silent.",
        (completes(), QUIET_SHIM, prints("DONE")),
        reported="pytorch#35901",
        allocator=NATIVE,
        environment=EXPANDABLE,
    ),
    Row(
        "c01_big_block_split.py",
        "12GiB",
        "Our allocator completes where torch's own cannot have the same block again.",
        (completes(), prints("DONE")),
        reported="pytorch#35901",
    ),
    # With four divisions between powers of two, 514 MiB become 768 and 1030 become 1280.
    Row(
        "c09_rounding.py",
        "8GiB",
        "Rounding to four divisions of a power of two is seen: 1,544 MiB requested, 1,920 allocated.",
        (completes(), prints("'requested_bytes.all.current': 1544, 'allocated_bytes.all.current': 1920")),
        reported="pytorch#161139",
        allocator=NATIVE,
        environment={"PYTORCH_CUDA_ALLOC_CONF": "roundup_power2_divisions:4"},
    ),
    Row(
        "c10_left.py",
        "8GiB",
        "The workspace of cuBLAS stays, 8.125 MiB, and 20 MiB are reserved.",
        (completes(), prints("allocated MiB 8\\.125 reserved MiB 20")),
        reported="transformers#26571",
        allocator=NATIVE,
        # That version of torch did not keep a workspace of cuBLASLt, 1 MiB, as 2.11 does.
        environment={"DISABLE_ADDMM_CUDA_LT": "1"},
    ),
    Row(
        "c21_paged.py",
        "24GiB",
        "Paged states do not count on the card.",
        (completes(),),
        frameworks=True,
    ),
    Row(
        "c22_blas_workspaces.py 4",
        "8GiB,cc=8.6",
        "8,519,680 bytes stay for each stream that multiplied.",
        (completes(), prints(f"emptied: allocated {4 * 8519680} ")),
        reported="pytorch#95668",
        allocator=NATIVE,
    ),
    Row(
        "c23_split_and_expand.py",
        "24GiB",
        "With expandable segments and max_split_size_mb:500 blocks of 110 MB fill the card, which is full then.",
        (
            runs_out("capacity"),
            ends_with(0),
            prints("218 blocks"),
            says("is full"),
            says_nothing_of("short by 0", "pool"),
        ),
        reported="pytorch#123548",
        allocator=NATIVE,
        environment={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:500"},
    ),
    # Half of 10,989 MiB is 54 blocks of 100 MiB.
    Row(
        "c24_fraction.py",
        "10989MiB",
        "The limit of the process is the cause.",
        (runs_out("limit", "c24_fraction.py:7"), prints("54 x 100 MiB")),
        reported="pytorch#58466",
    ),
    Row(
        "c32_ipc_kept.py",
        "4GiB",
        "The producer's memory comes back when both let go of it.",
        (completes(), prints("let go 0 0")),
        reported="pytorch#149187",
    ),
    Row(
        "c05b_fp16.py",
        "24GiB",
        "Mistral-7B in fp16 completes.",
        (completes(),),
        reported="bitsandbytes#1141",
        frameworks=True,
    ),
]
