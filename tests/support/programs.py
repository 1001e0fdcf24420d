# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs real programs under the installed `memtrace` and reads its output, for end-to-end tests."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import warm_starts
from support.json_object import JsonObject

BIN = Path(sys.executable).parent
MEMTRACE = Path(os.environ.get("MEMTRACE_PROGRAM", BIN / "memtrace"))
ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MEMTRACE_BUILD", ROOT / "build" / "dev"))
ALLOCATOR_PROBE = BUILD / "tests" / "interpose" / "torch" / "liballocator_probe.so"

MIB = 1 << 20
GIB = 1 << 30


@dataclass
class Finished:
    """A program that has ended."""

    status: int
    out: str
    err: str
    trace: Path

    def report(self, *options: str) -> JsonObject:
        """Returns the report of its trace, as JSON."""
        return json.loads(memtrace("report", "--json", *options, str(self.trace)).out)

    def stats(self) -> JsonObject:
        return json.loads(memtrace("stats", "--json", str(self.trace)).out)

    def printed(self) -> Any:  # each program prints what its test needs
        """Returns the last line of the program's output, parsed as JSON."""
        return json.loads(self.out.strip().splitlines()[-1])


def memtrace(*arguments: str, seconds: int = 240, **environment: str) -> Finished:
    """Runs a verb of the program, which is ended after `seconds`."""
    done = _run([str(MEMTRACE), *arguments], environment, seconds)
    return Finished(done.returncode, done.stdout, done.stderr, Path())


def on_card(
    script: str | Path,
    folder: Path,
    *arguments: str,
    card: str = "24GiB",
    options: tuple[str, ...] = (),
    python: Path = Path(sys.executable),
    launcher: tuple[str, ...] = (),
    expect: int | None = 0,
    seconds: int = 240,
    output: bool = True,
    warm: bool = True,
    **environment: str,
) -> Finished:
    """Runs a Python script (its text, or its path) on a simulated card; fails unless its status is `expect`.

    `output=False` leaves `-o` out. `launcher` comes between the interpreter and the script, such as `("-m",
    "torch.distributed.run")`. The program is ended after `seconds`. It may be a fork of a process that has imported
    torch (warm_starts.py), unless `warm` is False.
    """
    if not isinstance(script, Path):
        path = folder / "train.py"
        path.write_text(script)
    else:
        path = script
    trace = folder / "run.trace"
    command = [str(MEMTRACE), "run", "-q", "-f", "--card", card, *(("-o", str(trace)) if output else ()), *options]
    done = None
    if warm and output and python == Path(sys.executable) and not launcher:
        done = warm_starts.run(command, path, arguments, environment, seconds)
    if done is None:
        done = _run([*command, "--", str(python), *launcher, str(path), *arguments], environment, seconds)
    finished = Finished(done.returncode, done.stdout, done.stderr, trace)
    if expect is not None and done.returncode != expect:
        raise AssertionError(f"status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}")
    return finished


def on_its_own(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script that enables memtrace itself, without `memtrace run`; its trace is run.trace in `folder`."""
    (folder / "train.py").write_text(script)
    return subprocess.run(
        [sys.executable, "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "MEMTRACE_OUTPUT": "run.trace"},
    )


def _run(command: list[str], environment: dict[str, str], seconds: int = 240) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=seconds, check=False
    )
