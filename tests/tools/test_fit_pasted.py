# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The `memtrace fit` command that a report prints does what it says when it is pasted into a shell."""

import os
import re
import subprocess
import sys
from pathlib import Path

from support.programs import MEMTRACE

# A foreach update needs 64 MiB more than a fused one, and the card is full in the first.
TRAINING = """
import sys, torch
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048, bias=False) for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    model(torch.randn(int(sys.argv[1]), 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def typed(command: str, folder: Path, seconds: int = 100) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user's shell does, with `memtrace` and `python` on its path."""
    places = [str(Path(sys.executable).parent), str(MEMTRACE.parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(places)}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def test_command_of_the_first_screen_tries_the_changes_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "my program.py").write_text(TRAINING)
    run = "memtrace run -q -o run.trace --card 780MiB --allocator native -- python 'my program.py' 4"
    assert typed(run, tmp_path).returncode == 1
    report = typed("memtrace report run.trace", tmp_path)
    assert report.returncode == 0, report.stderr
    (command,) = re.findall(r"try these changes +(memtrace fit .*)", report.stdout)
    named = re.findall(r"(?m)^  [12] (\S.*?)  ", report.stdout.partition("WHAT WOULD HELP")[2])
    pasted = typed(command, tmp_path, 500)
    assert pasted.returncode == 1, pasted.stderr
    answered = [re.search(rf"(?m)^  (\d+ {name}  |{name} +\S+ is not installed)", pasted.stdout) for name in named]
    assert len(named) == 2 and all(answered), pasted.stdout
    assert re.search(r"(?m)^  \d+ .+  fits +", pasted.stdout), pasted.stdout
