# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""How many bytes of the trace does an event take? Budget: 12, without definitions of strings, frames and stacks.

Usage: event_bytes.py [TRACE ...]. Without traces: records scenarios/gpt2.py of the corpus (MEMTRACE_CORPUS), 40 steps,
and examples/train_gpt2_xl.py, both on the simulated card.

A free that is completed at once is one record and counts as one event here, though readers see its request and its
completion. "with headers and unused space" is the size of the file without definitions and summaries, divided by the
number of events; so short runs look worse than long ones. Layout: profiler/trace/format.md.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.corpus import CORPUS, ROOT

PAGE = 4096
BLOCK_HEADER = struct.Struct("<IHHQQII")
MAGIC = 0xB10C7ACE
RECORDS_BLOCKS = (2, 3)  # events, definitions
SUMMARY_BLOCK = 4
DEFINITIONS = {1: "strings", 2: "frames", 3: "stacks"}
FREED = 5
FIRST_EVENT = 16


def records(data: bytes, at: int, end: int):
    """Yields the kind and the total bytes of each record."""
    while at < end and data[at] != 0:
        kind, start, length, shift = data[at], at, 0, 0
        at += 1
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        at += length
        yield kind, at - start


def measure(name: str, path: Path) -> None:
    """Prints the figures of one trace."""
    data = path.read_bytes()
    events = event_bytes = definition_bytes = summary_bytes = 0
    at = PAGE
    while at + BLOCK_HEADER.size <= len(data):
        magic, kind, _queue, _first, _checksum, capacity, committed = BLOCK_HEADER.unpack_from(data, at)
        if magic != MAGIC:
            break
        begin = at + BLOCK_HEADER.size
        summary_bytes += capacity if kind == SUMMARY_BLOCK else 0
        for record, length in records(data, begin, begin + committed) if kind in RECORDS_BLOCKS else ():
            if record >= FIRST_EVENT or record == FREED:
                events += 1
                event_bytes += length
            elif record in DEFINITIONS:
                definition_bytes += length
        at += capacity
    rest = len(data) - definition_bytes - summary_bytes
    print(
        f"{name}: {len(data)} bytes, {events} events; an event: {event_bytes / events:.1f} bytes of records, "
        f"{rest / events:.1f} with headers and unused space; definitions {definition_bytes} bytes, "
        f"summaries {summary_bytes}"
    )


def record(folder: Path, script: Path, *arguments: str) -> Path:
    """Runs a script on the simulated card and returns its trace."""
    trace = folder / f"{script.stem}.trace"
    command = [str(Path(sys.executable).parent / "memtrace"), "run", "-q", "-f", "--card", "24GiB", "-o", str(trace)]
    # The larger example is meant to end with an out-of-memory error.
    subprocess.run(
        [*command, "--", sys.executable, str(script), *arguments], capture_output=True, timeout=300, check=False
    )
    return trace


def main() -> None:
    if len(sys.argv) > 1:
        for path in map(Path, sys.argv[1:]):
            measure(path.name, path)
        return
    with tempfile.TemporaryDirectory() as folder:
        scenario = CORPUS / "scenarios/gpt2.py"
        if scenario.exists():
            measure("gpt2.py, 40 steps", record(Path(folder), scenario, "--steps", "40"))
        else:
            print(f"skipped: no {scenario} (set MEMTRACE_CORPUS)")
        measure("train_gpt2_xl.py", record(Path(folder), ROOT / "examples/train_gpt2_xl.py"))


if __name__ == "__main__":
    main()
