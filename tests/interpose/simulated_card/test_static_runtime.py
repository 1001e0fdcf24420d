# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A program with its own CUDA runtime linked in cannot use the card: it fails, and one sentence names it."""

import os
import subprocess
from pathlib import Path

BUILD = Path(os.environ["MEMTRACE_BUILD"])
PROGRAM = BUILD / "tests/interpose/simulated_card/static_runtime_program"


def test_static_runtime_is_named_and_its_calls_fail():
    driver = BUILD / "package/lib/simulated_card/libcuda.so.1"
    environment = {**os.environ, "MEMTRACE_CARD": "8GiB", "LD_PRELOAD": str(driver)}
    run = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode != 0
    sentences = [line for line in run.stderr.splitlines() if line.startswith("memtrace: ")]
    assert len(sentences) == 1, run.stderr
    assert str(PROGRAM) in sentences[0]
    assert "its own CUDA runtime" in sentences[0]
