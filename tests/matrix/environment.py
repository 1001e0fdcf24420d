# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A fresh environment with one torch and the wheel, and the output of its programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# memtrace says one of these if it does not record a program.
NOT_RECORDED = ("is not recorded", "runs without", "could not")


class CheckError(Exception):
    """A failed check; its text is shown in the cell in place of `ok`."""


class SkipError(Exception):
    """The reason why a check is impossible here."""


class Environment:
    """A fresh environment with one torch and the wheel."""

    def __init__(self, folder: Path, torch: str, wheel: Path) -> None:
        """Makes the environment; raises CheckError if a package cannot be installed."""
        self.folder = folder
        self.python = folder / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        self.install(f"torch=={torch}", "numpy")
        self.install("--no-deps", str(wheel))

    def install(self, *packages: str) -> None:
        """Installs packages with pip; raises CheckError if one cannot be installed."""
        command = [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
        made = subprocess.run(command, check=False, capture_output=True, text=True)
        if made.returncode != 0:
            raise CheckError(f"pip: {made.stderr.strip()[-200:]}")

    def call(self, *command: object, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command of this environment, guarded; returns its output and exit status."""
        program = [str(self.folder / "bin" / str(command[0])), *map(str, command[1:])]
        guard = [sys.executable, str(ROOT / "tests/support/guard.py"), "--seconds", "900", "--processes", "100"]
        settings = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTRACE", "PYTHON"))}
        settings["PATH"] = f"{self.folder / 'bin'}:{settings['PATH']}"
        return subprocess.run(
            [*guard, "--memory-gib", "12", "--", *program],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=settings | (variables or {}),
        )

    def run(
        self, *options: object, program: list[object], variables: dict[str, str] | None = None
    ) -> dict[str, object]:
        """Runs a program under `memtrace run`; returns the JSON line that it printed."""
        done = self.call("memtrace", "run", "-q", "-f", *options, "--", *program, variables=variables)
        return last_json(done)


def last_json(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """Reads the last line as JSON; raises CheckError with the last line of stderr if there is none."""
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    said = [line for line in done.stderr.splitlines() if any(words in line for words in NOT_RECORDED)]
    if done.returncode != 0 or not lines or said:
        wrong = said or done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise CheckError(wrong[0][:160])
    return json.loads(lines[-1])
