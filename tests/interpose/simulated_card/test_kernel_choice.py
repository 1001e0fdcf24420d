# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Triton and Inductor measure a kernel by few calls on a simulated card, and take the memory that they would take."""

import json
import os
import subprocess
import sys

import pytest
from memtrace._core.package import CARD
from support.programs import MEMTRACE

MEASURES = """
import json
import torch
import triton.testing
from torch._inductor.runtime.benchmarking import InductorBenchmarker

def cost(measure):
    # Returns the number of calls of the kernel, and the bytes that torch allocated at most and holds reserved.
    calls = 0

    def kernel():
        nonlocal calls
        calls += 1
        torch.empty(3 << 20, device="cuda").zero_()

    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    measure(kernel)
    return calls, [torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()]

torch.zeros(1, device="cuda")
inductor = InductorBenchmarker()
original = InductorBenchmarker.benchmark_gpu.__wrapped__
answers = {}
for name, short, whole in (
    ("triton", triton.testing.do_bench, triton.testing.do_bench.__wrapped__),
    ("inductor", inductor.benchmark_gpu, lambda kernel: original(inductor, kernel)),
):
    calls, memory = cost(short)
    answers[name] = {"calls": calls, "memory": memory, "memory of all calls": cost(whole)[1]}
print(json.dumps(answers))
"""


def test_kernels_are_measured_by_few_calls_that_take_the_same_memory(tmp_path):
    program = tmp_path / "measures.py"
    program.write_text(MEASURES)
    command = [
        MEMTRACE,
        "run",
        "--card",
        "h100-80gb",
        "--allocator",
        "native",
        "-f",
        "-o",
        tmp_path / "run.trace",
        "--",
    ]
    run = subprocess.run(
        [*command, sys.executable, program],
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "triton")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    answers = json.loads(run.stdout)
    # Triton calls once, five times to estimate, once to warm up and once to measure.
    assert answers["triton"]["calls"] == 8
    # Inductor calls once, once to estimate and once to measure.
    assert answers["inductor"]["calls"] == 3
    for answer in answers.values():
        assert answer["memory"] == answer["memory of all calls"]
        assert answer["memory"][0] > 3 << 22  # the kernel's floats, at least


@pytest.mark.parametrize("name", ["-lcuda", "-l:libcuda.so.1"])
def test_launchers_are_linked_with_the_card_by_each_name_of_the_driver(tmp_path, name):
    (tmp_path / "launcher.c").write_text("extern int cuInit(unsigned); int start(void) { return cuInit(0); }\n")
    linked = ["gcc", "-shared", "-fPIC", "launcher.c", "-o", "launcher.so", f"-L{CARD / 'link'}", name]
    subprocess.run(linked, cwd=tmp_path, check=True, timeout=60)
    needed = subprocess.run(["readelf", "-d", "launcher.so"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "Shared library: [libcuda.so.1]" in needed.stdout
