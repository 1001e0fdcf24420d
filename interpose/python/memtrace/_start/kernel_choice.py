# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements by which compilers choose among the forms of a kernel: few calls on a simulated card.

Triton and Inductor call each form up to hundreds of times to find the fastest. Kernels do not run on a simulated card,
so what they find is arbitrary however often they call. The memory that a measurement takes does not depend on how often
it calls: each call allocates and frees the same.
"""

import functools
from types import ModuleType

from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

# Triton's are durations in ms, and it calls at least once for each of them; Inductor's are numbers of calls.
_OF_TRITON = {"warmup": 0, "rep": 0}
_OF_INDUCTOR = {"estimation_iters": 1, "memory_warmup_iters": 0, "benchmark_iters": 1}


def shorten() -> None:
    """Waits for Triton and Inductor. Call it in a process that has a simulated card, before torch is imported."""
    when_imported("triton.testing", _shorten_triton)
    when_imported("torch._inductor.runtime.benchmarking", _shorten_inductor)


def _shorten_triton(testing: ModuleType) -> None:
    measure = testing.do_bench

    @functools.wraps(measure)
    def measure_briefly(call: object, *positional: object, **named: object) -> object:
        # Triton's and Inductor's own calls name the durations.
        return measure(call, *positional, **(named if positional else named | _OF_TRITON))

    patches.put(
        testing,
        "do_bench",
        measure_briefly,
        "triton.testing.do_bench: measures a kernel by few calls, since none runs on a simulated card",
    )


def _shorten_inductor(benchmarking: ModuleType) -> None:
    benchmarker = getattr(benchmarking, "InductorBenchmarker", None)
    if benchmarker is None:  # up to torch 2.6, which only has Triton's
        return
    measure = benchmarker.benchmark_gpu

    @functools.wraps(measure)
    def measure_briefly(self: object, call: object, *positional: object, **named: object) -> object:
        return measure(self, call, *positional, **(named if positional else named | _OF_INDUCTOR))

    patches.put(
        benchmarker,
        "benchmark_gpu",
        measure_briefly,
        "torch._inductor.runtime.benchmarking.InductorBenchmarker.benchmark_gpu: measures a kernel by few calls, since "
        "none runs on a simulated card",
    )
