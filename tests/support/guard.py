# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command with limits on its time, its memory and the number of its processes.

Usage: guard.py --seconds S --processes N --memory-gib G -- COMMAND...

Every process of the command's session counts, and every descendant, since some start sessions of their own
(Playwright its browser). When a limit is passed all of them are killed and the exit status is 124. One runaway
chain of processes once took a whole machine: nothing that starts Python is tested without this.
"""

import argparse
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
_BETWEEN_LOOKS = 0.5  # seconds
_MOST_OF_STAT = 1024  # bytes


def all_processes() -> dict[int, tuple[int, int]]:
    """Maps each process to its parent and its session (fields 4 and 6 of /proc/PID/stat, after the name)."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = os.open(f"/proc/{name}/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            fields = os.read(stat, _MOST_OF_STAT).rsplit(b")", 1)[1].split()
        except OSError:
            continue
        finally:
            os.close(stat)
        found[int(name)] = int(fields[1]), int(fields[3])
    return found


def processes_of(command: int) -> list[int]:
    """Lists the processes of the session that `command` leads, and the descendants of all of them."""
    processes = all_processes()
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [pid for pid, (_, session) in processes.items() if session == command]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, [])
    return sorted(found)


def resident_bytes(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except OSError:
            continue
    return total


def broken_limit(limits: argparse.Namespace, started: float, command: int) -> str | None:
    pids = processes_of(command)
    if time.monotonic() - started > limits.seconds:
        return f"ran longer than {limits.seconds} s"
    if len(pids) > limits.processes:
        return f"had {len(pids)} processes, more than {limits.processes}"
    if resident_bytes(pids) > limits.memory_gib * 2**30:
        return f"held more than {limits.memory_gib} GiB of memory"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--processes", type=int, default=40)
    parser.add_argument("--memory-gib", type=float, default=8)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    limits = parser.parse_args()
    command = limits.command[1:] if limits.command[:1] == ["--"] else limits.command
    # The tests expect English, whatever the locale is.
    child = subprocess.Popen(command, start_new_session=True, env={"MEMTRACE_LANG": "en", **os.environ})
    started = time.monotonic()
    end = select.poll()
    end.register(os.pidfd_open(child.pid), select.POLLIN)
    while not end.poll(_BETWEEN_LOOKS * 1000):
        reason = broken_limit(limits, started, child.pid)
        if reason:
            for pid in processes_of(child.pid):
                os.kill(pid, signal.SIGKILL)
            print(f"guard: {' '.join(command)} {reason}; stopped", file=sys.stderr)
            return 124
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
