# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated card, which is loaded into the process before torch looks for a GPU."""

import _ctypes
import ctypes
import os
import sys
from importlib.machinery import PathFinder

from memtrace._core.package import CARD, INJECT, torch_version
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._start.drivers import installed_driver, loaded_beside
from memtrace._text.say import say

_DRIVER = "libcuda.so.1"
# These libraries serve programs of any CUDA.
_OF_ANY_CUDA = (_DRIVER, "libnvidia-ml.so.1", "libcudnn.so.9", "libcusparse.so.12", "libnccl.so.2")
# Libraries by the major version of CUDA. In this order, each finds those that it needs already loaded, by soname.
_OF_CUDA = {
    "12": (
        "libcudart.so.12",
        "libcublasLt.so.12",
        "libcublas.so.12",
        "libcusolver.so.11",
        "libcufft.so.11",
        "libcupti.so.12",
    ),
    "13": (
        "libcudart.so.13",
        "libcublasLt.so.13",
        "libcublas.so.13",
        "libcusolver.so.12",
        "libcufft.so.12",
        "libcupti.so.13",
    ),
}
_loaded: list[ctypes.CDLL] = []


def check_spec(spec: str) -> str:
    """Returns "" if `spec` (several joined by ";") describes cards, else one sentence that says what is wrong."""
    driver = _open(_DRIVER)
    try:
        error = ctypes.create_string_buffer(512)
        ok = driver.memtrace_card_check(spec.encode(), error, ctypes.c_size_t(len(error))) == 0
        return "" if ok else error.value.decode(errors="replace")
    finally:
        # A caller that continues without a card must find NVIDIA's driver under this name, if there is one.
        _ctypes.dlclose(driver._handle)


def _open(library: str, mode: int = ctypes.DEFAULT_MODE) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(CARD / library), mode=mode)
    except OSError as error:
        raise_if_from_outside(error)
        raise RuntimeError(
            f"The simulated card cannot be loaded ({error}). Install memtrace again or, if ulimit -v is set, raise it."
        ) from None


def cuda_majors() -> list[str]:
    """Lists the major versions of CUDA that this installation's card supports, for example `["12", "13"]`."""
    return [major for major, libraries in _OF_CUDA.items() if (CARD / libraries[0]).exists()]


def cuda_major_of_torch() -> str | None:
    """Returns the CUDA major version of the torch that would be imported; None without one. Imports nothing."""
    spec = PathFinder.find_spec("torch")
    version = None if spec is None else torch_version(spec)
    return None if version is None else version.cuda_major


def load(cuda_major: str | None) -> None:
    """Loads the stand-ins for CUDA's libraries; later loads by name get these. A second call does nothing.

    `cuda_major` is that of the program. If it is None or not in `cuda_majors()`, the stand-ins for all of these are
    loaded.

    Raises RuntimeError if NVIDIA's are loaded already, or if the host cannot load ours.
    """
    if _loaded:
        return
    majors = [major for major in cuda_majors() if major == cuda_major] or cuda_majors()
    libraries = [*_OF_ANY_CUDA, *(library for major in majors for library in _OF_CUDA[major])]
    other = loaded_beside(CARD, libraries)
    if other:
        raise RuntimeError(
            f"{other} is already loaded in this process and cannot be used with the simulated card. "
            "Load the simulated card before anything that uses CUDA is imported."
        )
    # Triton links its launchers with the driver to which this folder points.
    os.environ.setdefault("TRITON_LIBCUDA_PATH", str(CARD / "link"))
    _loaded.extend([_open(name, ctypes.RTLD_GLOBAL) for name in libraries])


def _share(spec: str) -> None:
    """Lets the processes that this one starts see what each holds on the cards, while this one lives."""
    if os.environ.get("MEMTRACE_CARD_SHARED") and os.environ.get("MEMTRACE_CARD") == spec:
        return
    ledger = os.memfd_create("memtrace-card", os.MFD_CLOEXEC)  # open as long as this process lives
    os.environ["MEMTRACE_CARD_SHARED"] = f"/proc/{os.getpid()}/fd/{ledger}"


def _pass_to_child_programs() -> None:
    """Also gives the card to the Python programs that this one starts. Only `memtrace run` records them."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(INJECT) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(INJECT), *paths]))
        os.environ["MEMTRACE_RECORD"] = "0"


def simulated_card(spec: str, events: str = "eager") -> None:
    """Gives this process, and the Python programs that it starts, simulated cards instead of the machine's GPUs.

    Call it once, before torch is imported. No kernel runs on such a card; its memory behaves exactly. It records
    nothing; `enable` does. It also works with `MEMTRACE=0`, but then only for this process.

    Thread rule: any thread, before any thread imports torch.

    Args:
        spec: The cards, as for `memtrace run --card`: a size such as "24GiB", a name that `memtrace cards` lists, or
            more, such as "2x80GiB,other=3GiB": two cards of 80 GiB, of which other processes hold 3 GiB each. Cards of
            different kinds are joined by ";".
        events: When the card's work completes: with "eager" immediately, with "lazy" only when the host waits for it.
            If memory waits for an event (`record_stream`), "eager" gives the lower bound of what a GPU would hold,
            and "lazy" the upper bound.

    Raises:
        ValueError: If `spec` does not describe a card, or `events` is another value.
        RuntimeError: If torch is imported, another library of NVIDIA's is loaded, or the card cannot be loaded.

    Example:
        >>> import memtrace
        >>> memtrace.simulated_card("24GB")
        Traceback (most recent call last):
        ValueError: card '24GB': the size '24GB' is ambiguous (powers of 10 or of 2); write 24GiB
        >>> memtrace.simulated_card("2GiB")
        >>> import torch
        >>> torch.cuda.device_count()
        1
    """
    if "torch" in sys.modules:
        raise RuntimeError("memtrace.simulated_card must be called before torch is imported.")
    wrong = check_spec(spec)
    if wrong:
        raise ValueError(wrong)
    if events not in ("eager", "lazy"):
        raise ValueError(f"memtrace.simulated_card: events must be 'eager' or 'lazy', not {events!r}.")
    load(cuda_major_of_torch())
    driver = installed_driver()
    if driver:
        say(f"This program uses only the simulated card, not NVIDIA's driver {driver}.")
    _share(spec)
    os.environ["MEMTRACE_CARD"] = spec
    os.environ["MEMTRACE_CARD_EVENTS"] = events
    _pass_to_child_programs()
