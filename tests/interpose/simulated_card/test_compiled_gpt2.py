# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile: Triton compiles GPT-2 for the card, and its kernels are loaded and launched.

Two layers: Inductor compiles the same kernels for two as for twelve, and this takes only minutes on a busy machine.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LAYERS = "2"
PROGRAM = Path(__file__).with_name("compiled_gpt2.py")
MEMTRACE = Path(sys.executable).with_name("memtrace")


@pytest.mark.parametrize("allocator", ["native", "memtrace"])
def test_compiled_gpt2_trains_and_launches_the_kernels_of_triton(allocator, tmp_path):
    trace = tmp_path / "run.trace"
    caches = {"TRITON_CACHE_DIR": str(tmp_path / "triton"), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    command = [MEMTRACE, "run", "--card", "24GiB", "--allocator", allocator, "-o", trace, "--", sys.executable]
    run = subprocess.run(
        [*command, PROGRAM, LAYERS],
        env={**os.environ, **caches, "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=420,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout.split()[-1]) > 0
    assert list((tmp_path / "triton").rglob("*.cubin")), "nothing was compiled for the card"
    report = subprocess.run([MEMTRACE, "report", "--json", trace], capture_output=True, text=True, timeout=120)
    assert json.loads(report.stdout)["simulated"]["unsupported"] == {}
