# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace fit` that is stopped among its remedies prints what it knows, and has printed a line for each run."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.corpus import CORPUS
from support.programs import MEMTRACE

CASES = CORPUS / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the corpus of cases is not there (MEMTRACE_CORPUS)")


# Each needs more than its card has.
@pytest.mark.parametrize(("script", "card"), [("c30_small.py", "2GiB"), ("unlearn_tiny.py", "640MiB")])
@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_stopped_fit_reports_the_verdict_and_runs_so_far(
    tmp_path: Path, script: str, card: str, asked: signal.Signals
) -> None:
    shutil.copy(CASES / script, tmp_path)
    command = [MEMTRACE, "fit", "--card", card, "--watch", "0", "--", sys.executable, script]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        told = [running.stderr.readline() for _ in range(4)]
        running.send_signal(asked)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 128 + asked
    assert told[0].startswith("memtrace: without a limit ... ") and "memtrace: on the card ... " in told[1]
    assert all(" ... " in line and line.endswith(" s)\n") for line in told), told
    assert err.splitlines()[-1] == "memtrace: stopped"
    said = " ".join(out.split())
    assert said.startswith("DOES NOT FIT. It needs ")
    assert "First to fail on the card: " + script in said and "memtrace fit was stopped in the run" in said
    # The remedies that had been tried are in their table. The run for reference is none.
    names = [line.split(": ", 1)[1].split(" ...")[0] for line in told[2:]]
    assert all(name in said for name in names if name != "without a change, again"), said
