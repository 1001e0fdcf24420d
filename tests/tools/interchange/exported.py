# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A trace with figures known by hand, exported in every format by the installed program."""

import subprocess
from pathlib import Path

from support.programs import BUILD, MEMTRACE

MIB = 1 << 20

# Card 0: 40 MiB of parameters, a flat buffer of 16 MiB of which half is labelled, activations of 60 MiB and 30 MiB of
# which the second is freed late, and an out-of-memory. Card 1: one block. The peaks are 146 MiB and 8 MiB.
TRACE = """\
info command ["python","train.py"]
info environment.RANK 3
info environment.WORLD_SIZE 8
info pid 4711
info started_unix_ns 1700000000000000000
info allocator memtrace
reserve 0 0x7f0000000000 size=1GiB
map 0 0x7f0000000000 size=200MiB
map 1 0x7e0000000000 size=20MiB
alloc 0 0x7f0000000000 requested=40MiB stack=build@/home/ada/model.py:3;<module>@/home/ada/train.py:1 owner=policy
relabel 0 0x7f0000000000 size=40MiB role=parameter path=lm_head.weight
alloc 0 0x7f0002800000 requested=16MiB owner=policy
relabel 0 0x7f0002800000 size=8MiB role=gradient
alloc 1 0x7e0000000000 requested=8MiB stack=other@/home/ada/train.py:5
@1000000 step 1
phase forward
@2000000 alloc 0 0x7f0003800000 requested=60MiB stack=step@train.py:9;%3Bodd@/home/ada/train.py:9 module=layers.0
alloc 0 0x7f0007400000 requested=30MiB stack=step@/home/ada/train.py:9 module="layers.\\"1\\""
@3000000 phase backward
free_requested 0 0x7f0007400000
free_completed 0 0x7f0007400000
free 0 0x7f0003800000
@4000000 step 2
out_of_memory 0 requested=500MiB allocated=500MiB obtainable=144MiB stack=step@/home/ada/train.py:9
card 0 total=1GiB free=100MiB reserved=200MiB
annotate "odd \\"key\\"" "a, b"
free_requested 1 0x7e0000000000
"""

PEAK = 146 * MIB
PEAK_ROLES = {
    ("parameter", "stated"): 40 * MIB,
    ("gradient", "stated"): 8 * MIB,
    ("unknown", "unknown"): 8 * MIB,
    ("activation", "inferred"): 90 * MIB,
}


def write_trace(folder: Path, events: str = TRACE) -> Path:
    text = folder / "run.trace.txt"
    text.write_text(events, newline="")
    trace = folder / "run.trace"
    subprocess.run([BUILD / "tests" / "support" / "trace_text", text, trace], check=True)
    return trace


def export(trace: Path, to: str) -> Path:
    """Exports the trace beside it. Returns the path of the (first) file."""
    out = trace.with_name(f"out.{to}")
    done = subprocess.run(
        [MEMTRACE, "export", "--to", to, "-f", "-o", out, trace], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return out
