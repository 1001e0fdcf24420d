# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Records a torch without a matching shim by torch's own memory history.

torch dumps it as a memory snapshot for `memtrace report`: which lines of the program requested memory, and what filled
the card. It has no steps, modules or roles.
"""

import atexit
import os
import sys
from pathlib import Path
from types import ModuleType

from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._text.say import say

# An entry with a Python stack takes about 1 KB of the host's memory.
_MOST_EVENTS = 200_000


def record(torch: ModuleType, reason: str) -> None:
    """Says `reason` and what is recorded instead; recording begins when CUDA is first used."""
    memory = getattr(getattr(torch, "cuda", None), "memory", None)
    if os.environ.get("MEMTRACE_TRACE") == "0" or not hasattr(memory, "_record_memory_history"):
        say(f"{reason} The program runs with torch's own allocator and is not recorded.")
        return
    say(
        f"{reason} The program runs with torch's own allocator. torch's history of its memory is recorded: "
        f"the latest {_MOST_EVENTS:,} events, without steps and roles."
    )
    torch.cuda._lazy_call(lambda: _begin(torch))


def _begin(torch: ModuleType) -> None:
    try:
        torch.cuda.memory._record_memory_history(max_entries=_MOST_EVENTS, stacks="python")
        dump = _Dump(torch, _file())
        torch._C._cuda_attach_out_of_memory_observer(dump.at_out_of_memory)
        atexit.register(dump.at_exit)
    except Exception as error:
        raise_if_from_outside(error)
        say(f"torch's history could not be recorded ({type(error).__name__}: {error}).")


def _file() -> Path:
    """Returns the snapshot's path: beside the requested trace, or with a default name like a trace's."""
    named = os.environ.get("MEMTRACE_OUTPUT")
    if named:
        return Path(named).with_suffix(".pickle")
    script = Path(sys.argv[0]).stem if getattr(sys, "argv", None) and sys.argv[0] else "python"
    return Path.cwd() / f"memtrace-{script}.{os.getpid()}.pickle"


class _Dump:
    """Writes the snapshot: at an out-of-memory, while the blocks that fill the card exist, else at the end."""

    def __init__(self, torch: ModuleType, file: Path) -> None:
        self._torch = torch
        self._file = file
        self._process = os.getpid()
        self._is_written = False

    def at_out_of_memory(self, device: int, requested: int, total: int, free: int) -> None:
        """Dumps before torch throws its exception; sizes are bytes. torch calls it for each failure."""
        self._write()

    def at_exit(self) -> None:
        """Dumps unless an out-of-memory was dumped, which says more than the program's end."""
        if not self._is_written and os.getpid() == self._process:
            self._write()

    def _write(self) -> None:
        try:
            self._torch.cuda.memory._dump_snapshot(str(self._file))
            self._is_written = True
            say(f"torch's history was written to {self._file}. To explain it, run: memtrace report {self._file.name}")
        except Exception as error:  # must not change the program's own exception or its end
            raise_if_from_outside(error)
            say(f"torch's history could not be written to {self._file} ({type(error).__name__}: {error}).")
