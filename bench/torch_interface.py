# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a pair of allocation and free from torch's C++ code: native and ours in one process, on the simulated card.

Usage: torch_interface.py LIBRARY [--trace] [Google Benchmark's options]

LIBRARY is libtorch_interface_benchmark.so of the build. Without --trace ours records nothing, like native.
"""

import ctypes
import os
import sys


def main() -> None:
    import memtrace

    library, *options = sys.argv[1:]
    os.environ["MEMTRACE_HOST_VALUES"] = "0"
    os.environ["MEMTRACE_TRACE"] = str(int("--trace" in options))
    options = [option for option in options if option != "--trace"]
    memtrace.simulated_card("192GiB")
    import torch

    benchmark = ctypes.CDLL(library)
    benchmark.memtrace_benchmark_note_native()
    memtrace.enable()
    torch.cuda.init()
    words = [b"torch_interface", *(option.encode() for option in options)]
    benchmark.memtrace_benchmark_run(len(words), (ctypes.c_char_p * len(words))(*words))


if __name__ == "__main__":
    main()
