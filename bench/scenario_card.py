# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios of the corpus on simulated cards of any size, in forked processes: torch is imported only once.

Each child resizes its card before CUDA is used. The context takes no memory, so all of the card is available to its
allocator.
"""

import ctypes
import io
import itertools
import json
import os
import re
import runpy
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.corpus import CORPUS

MIB = 1 << 20
GRANULE = 2 * MIB
SECONDS = 240

# The memory management of a run: the allocator, and PYTORCH_CUDA_ALLOC_CONF.
WAYS = {"native": ("native", ""), "expandable": ("native", "expandable_segments:True"), "memtrace": ("memtrace", "")}

# Calls of the driver and the runtime by purpose. Calls that are not listed cost an allocator nothing.
KINDS = {
    "create": ("cuMemCreate",),
    "map": ("cuMemMap",),
    "access": ("cuMemSetAccess",),
    "release": ("cuMemRelease",),
    "unmap": ("cuMemUnmap",),
    "malloc": ("cudaMalloc",),
    "free": ("cudaFree",),
    "synchronise": (
        "cudaDeviceSynchronize",
        "cudaStreamSynchronize",
        "cudaEventSynchronize",
        "cuCtxSynchronize",
        "cuStreamSynchronize",
        "cuEventSynchronize",
    ),
}
_KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}


T = TypeVar("T")  # a type that JSON can hold


class RunFields(TypedDict):
    """The fields of Run, as a child writes them."""

    completed: bool
    peak_reserved: int
    calls: dict[str, int]
    steps: list[dict[str, int]]
    said: str


@dataclass
class Run:
    """The result of a scenario on one card."""

    completed: bool
    peak_reserved: int
    calls: dict[str, int]
    steps: list[dict[str, int]]  # the calls of each
    said: str


def load(*modules: str) -> None:
    """Sets up the card and imports torch and the given modules that the scenarios use."""
    import memtrace

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    memtrace.simulated_card("80GiB,context=0MiB")
    del os.environ["MEMTRACE_CARD_SHARED"]  # each child has a card of its own
    for module in ("torch", *modules):
        __import__(module)


def run(command: str, card: int, way: str) -> Run:
    """Runs a scenario, `gpt2.py --steps 3`, on a card of `card` bytes in a forked process."""
    return Run(**on_card(card, way, lambda: _run_here(command)))


def on_card(card: int, way: str, function: Callable[[], T]) -> T:
    """Returns the result of `function` in a forked process with a card of `card` bytes, managed in one of WAYS."""
    return _forked(lambda: _begin(card, way, function))


def _forked(function: Callable[[], T]) -> T:
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            status = 1
            try:
                answer.write(json.dumps(function()).encode())
                answer.flush()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise RuntimeError(f"the process of a run ended with status {status}")
        answer.seek(0)
        return json.loads(answer.read())


def _begin(card: int, way: str, function: Callable[[], T]) -> T:
    import memtrace
    import torch

    allocator, settings = WAYS[way]
    if ctypes.CDLL("libcuda.so.1").memtrace_card_resize(0, ctypes.c_uint64(card)) != 0:
        raise RuntimeError(f"the card cannot have {card} bytes")
    if settings:
        torch._C._accelerator_setAllocatorSettings(settings)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MEMTRACE_ALLOCATOR": allocator, "MEMTRACE_OUTPUT": f"{folder}/run.trace"}
        memtrace.enable()
        return function()


def _run_here(command: str) -> RunFields:
    text = io.StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        scenario = _Scenario(command)
        scenario.run()
    return {
        "completed": scenario.completed,
        "peak_reserved": scenario.peak_reserved,
        "calls": scenario.log.of_run(),
        "steps": scenario.steps,
        "said": text.getvalue(),
    }


class _Scenario:
    """One of the corpus's scripts; reads the card's figures after each of its guarded parts."""

    def __init__(self, command: str) -> None:
        script, *self._arguments = command.split()
        self._path = CORPUS / "scenarios" / script
        self.completed = True
        self.peak_reserved = 0
        self.steps: list[dict[str, int]] = []
        self.log = CallLog()

    def run(self) -> None:
        sys.path.insert(0, str(self._path.parent))
        import case_util
        import torch

        guarded = case_util.guarded

        def watched(tag: str, function: Callable[[], object]) -> bool:
            done: bool = guarded(tag, function)
            self.completed &= done
            self._look()
            self.steps.append(self.log.turn())
            return done

        report = case_util.report

        def reported(*arguments: object, **options: object) -> None:
            self._look()  # before it resets the peaks
            report(*arguments, **options)

        modules = itertools.count(1)

        def entered(*_: object) -> None:
            if next(modules) % 5_000 == 0:
                self.log.read()  # before it is full

        torch.nn.modules.module.register_module_forward_pre_hook(entered)
        case_util.guarded, case_util.report = watched, reported
        sys.argv = [str(self._path), *self._arguments]
        self.log.begin()
        try:
            runpy.run_path(str(self._path), run_name="__main__")
        except torch.OutOfMemoryError as error:
            self.completed = False
            print(error)
        self._look()
        self.log.turn()

    def _look(self) -> None:
        import torch

        self.peak_reserved = max(self.peak_reserved, torch.cuda.max_memory_reserved())


class CallLog:
    """The program's calls, counted by kind (interpose/simulated_card/interface/card_control.h)."""

    _LONGEST = 1_000_000  # size of the card's log (interpose/simulated_card/test_bed/watched_calls.h)

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._visitor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)
        self._turns: list[Counter[str]] = []
        self._counts: Counter[str] = Counter()  # since the last turn

    def begin(self) -> None:
        """Starts counting."""
        self._driver.memtrace_card_log_calls(1)

    def read(self) -> None:
        """Counts the calls since the last read, and empties the log; fails if the log was too short for them."""

        def visit(_argument: int, call: bytes, number: int) -> None:
            if number == self._LONGEST:
                full.append(number)
            kind = _KIND_OF.get(re.split(r"[ (]", call.decode(), maxsplit=1)[0])
            if kind:
                self._counts[kind] += 1

        full: list[int] = []
        self._driver.memtrace_card_visit_calls(self._visitor(visit), None)
        if full:
            raise RuntimeError(f"{self._LONGEST} calls at once: the card logged no more")
        self.begin()

    def turn(self) -> dict[str, int]:
        """Returns the calls since the last turn."""
        self.read()
        counts, self._counts = self._counts, Counter()
        self._turns.append(counts)
        return dict(counts)

    def of_run(self) -> dict[str, int]:
        """Returns the calls of all turns."""
        return dict(sum(self._turns, Counter()))


def smallest_card(
    run_on: Callable[[int], Run], fails: int, completes: int, tolerance: int = GRANULE
) -> tuple[int, Run]:
    """Finds a card on which `run_on(card)` completes, and returns it with that run; `tolerance` less is not enough.

    It is found by bisection between `fails` and `completes`, a card on which it does. The answer is a multiple of a
    granule.
    """
    fails, completes = fails // GRANULE, -(-completes // GRANULE)
    last = run_on(completes * GRANULE)
    if not last.completed:
        raise RuntimeError(f"a card of {completes * GRANULE} bytes does not do: {last.said[-500:]}")
    while (completes - fails) * GRANULE > tolerance:
        middle = (fails + completes) // 2
        tried = run_on(middle * GRANULE)
        if tried.completed:
            completes, last = middle, tried
        else:
            fails = middle
    return completes * GRANULE, last


def called(calls: dict[str, int]) -> str:
    """Returns the calls of a run as one line."""
    return "  ".join(f"{kind} {calls[kind]}" for kind in KINDS if calls.get(kind))
