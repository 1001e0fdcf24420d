# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated card: loaded into the process before torch looks for a GPU."""

import ctypes
import os
import sys

from memtrace._package import CARD

# In this order: each finds those it needs already loaded, by its soname.
_LIBRARIES = ("libcuda.so.1", "libcudart.so.13", "libcublasLt.so.13", "libcublas.so.13")
_loaded: list[ctypes.CDLL] = []


def check_spec(spec: str) -> str:
    """Gives "" if `spec` (several joined by ";") describes cards, else one sentence that says what is wrong."""
    driver = ctypes.CDLL(str(CARD / _LIBRARIES[0]))
    error = ctypes.create_string_buffer(512)
    ok = driver.memtrace_card_check(spec.encode(), error, ctypes.c_size_t(len(error))) == 0
    return "" if ok else error.value.decode(errors="replace")


def load() -> None:
    """Loads the stand-ins for CUDA's libraries; what is loaded later by name gets these. A second call does nothing."""
    if not _loaded:
        # Triton links its launchers with the driver that this folder holds.
        os.environ.setdefault("TRITON_LIBCUDA_PATH", str(CARD))
        _loaded.extend(ctypes.CDLL(str(CARD / name), mode=ctypes.RTLD_GLOBAL) for name in _LIBRARIES)


def simulated_card(spec: str) -> None:
    """Gives this process, and the ones it starts, simulated cards instead of the machine's GPUs.

    `spec` is what `memtrace run --card` takes: `"24GiB"`, `"2x80GiB,other=3GiB"`, `"rtx-4090"`; several cards of
    different kinds are joined by ";". No kernel runs on such a card; its memory behaves exactly.

    Raises ValueError if the spec does not describe a card, RuntimeError if torch is imported already.
    """
    if "torch" in sys.modules:
        raise RuntimeError("memtrace.simulated_card must be called before torch is imported")
    wrong = check_spec(spec)
    if wrong:
        raise ValueError(wrong)
    os.environ["MEMTRACE_CARD"] = spec
    load()
