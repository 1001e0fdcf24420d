# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The allocator that is tried, in the process that tries it."""

import contextlib
import ctypes
import json
import os

from memtrace._core.package import LIBRARIES, minor_of, shim_library

# Allocators of torch by their names on the command line, with the allocator of the process and torch's own settings.
TORCH = {
    "native": ("native", ""),
    "expandable": ("native", "expandable_segments:True"),
    "cudaMallocAsync": ("native", "backend:cudaMallocAsync"),
    "memtrace": ("memtrace", ""),
    "planned": ("memtrace", ""),
}
DRIVER = "cudaMalloc"
_FIRST_CARD = "1GiB,context=0MiB"  # each play gets a card of its own size


class Tried:
    """One allocator with the requests it is given; `play` and `time` are called in forked processes, once each."""

    def __init__(self, allocator: str, allocate: str, release: str, is_gpu: bool, bench: ctypes.CDLL) -> None:
        self._allocator = allocator
        self._is_gpu = is_gpu
        self._functions = (allocate.encode(), release.encode())
        self._bench = bench
        bench.memtrace_bench_begin.argtypes = [ctypes.c_uint64, ctypes.c_int]
        bench.memtrace_bench_use.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        bench.memtrace_bench_use_library.restype = ctypes.c_char_p
        bench.memtrace_bench_play.restype = ctypes.c_char_p
        bench.memtrace_bench_time.argtypes = [ctypes.c_int, ctypes.c_double]
        bench.memtrace_bench_time.restype = ctypes.c_double

    @classmethod
    def load(cls, allocator: str, allocate: str, release: str, requests: str, is_gpu: bool) -> "Tried":
        """Loads the simulated card or the machine's driver, torch if the allocator needs it, and the requests.

        Raises RuntimeError, ImportError or OSError if that fails.
        """
        if allocator in TORCH:
            os.environ["PYTORCH_CUDA_ALLOC_CONF"] = TORCH[allocator][1]
            # Since 2.13, torch prints a warning for each request that a card refuses. The smallest card is found by
            # refused requests, so that warning says nothing here.
            os.environ["TORCH_CPP_LOG_LEVEL"] = "ERROR"
        if is_gpu:
            _load_driver()
        else:
            _load_card()
        if allocator in TORCH:
            import torch  # noqa: F401  # it is imported once, for all plays
        bench = ctypes.CDLL(str(LIBRARIES / "libmemtrace_bench.so"))
        if bench.memtrace_bench_read(requests.encode()) != 0:
            raise RuntimeError(f"the requests in {requests} cannot be read")
        return cls(allocator, allocate, release, is_gpu, bench)

    def play(self, card: int, stops: bool, checks: bool) -> str:
        """Plays the requests once on a card of `card` bytes; returns the player's JSON."""
        fault = self._begin(card)
        if fault:
            return fault
        answer: bytes = self._bench.memtrace_bench_play(int(stops), int(checks))
        return answer.decode()

    def time(self, card: int, threads: int, seconds: float) -> str:
        """Returns {"ns": nanoseconds of a pair} as JSON, or a fault if a request was not served."""
        fault = self._begin(card)
        if fault:
            return fault
        nanoseconds: float = self._bench.memtrace_bench_time(threads, seconds)
        return json.dumps({"ns": nanoseconds} if nanoseconds >= 0 else {"fault": "out_of_memory", "detail": ""})

    def _begin(self, card: int) -> str:
        """Makes the card and the allocator ready. Returns "", or a fault as JSON."""
        if self._allocator in TORCH and not self._is_gpu:
            # torch opens the card only after its allocator is chosen.
            ctypes.CDLL("libcuda.so.1").memtrace_card_resize(0, ctypes.c_uint64(card))
            self._use_torch()
        if self._bench.memtrace_bench_begin(card, int(self._is_gpu)) != 0:
            return json.dumps({"fault": "gpu_too_small" if self._is_gpu else "no_card", "detail": str(card)})
        if self._allocator in TORCH and self._is_gpu:
            self._use_torch()  # after the ballast, which would have no room beside torch's memory
        elif self._allocator == DRIVER:
            self._bench.memtrace_bench_use_driver()
        elif self._allocator not in TORCH:
            fault: bytes = self._bench.memtrace_bench_use_library(os.fsencode(self._allocator), *self._functions)
            return fault.decode()
        return ""

    def _use_torch(self) -> None:
        import torch

        import memtrace

        if TORCH[self._allocator][0] == "memtrace":
            os.environ |= {"MEMTRACE_ALLOCATOR": "memtrace", "MEMTRACE_TRACE": "0", "MEMTRACE_HOST_VALUES": "0"}
            if not memtrace.enable():
                raise RuntimeError("memtrace's allocator does not start with this torch")
        torch.cuda.init()
        shim = ctypes.CDLL(str(shim_library(minor_of(torch.__version__))))
        functions = (shim.memtrace_bench_torch_malloc, shim.memtrace_bench_torch_free)
        self._bench.memtrace_bench_use(*(ctypes.cast(function, ctypes.c_void_p) for function in functions))


def _load_card() -> None:
    import memtrace

    memtrace.simulated_card(_FIRST_CARD)
    os.environ.pop("MEMTRACE_CARD_SHARED", None)  # each play has the card for itself


def _load_driver() -> None:
    """Loads the driver, and for libraries that need it the CUDA runtime; nothing is started before the fork."""
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    for runtime in ("libcudart.so.13", "libcudart.so.12"):
        with contextlib.suppress(OSError):
            ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL)
            return
