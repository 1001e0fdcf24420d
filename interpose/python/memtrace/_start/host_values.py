# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""True values for small tensors on a simulated card: switched on here, done in `interpose/torch/host_values`."""

import ctypes
import functools
import os
import threading
from collections.abc import Callable

from memtrace import _patches
from memtrace._package import PACKAGE
from memtrace._say import refuse, say
from memtrace._signal_exceptions import let_through
from memtrace._start import generate_length

POLICY = PACKAGE / "lib" / "host_values.policy"


class HostValues:
    """What this process does for values that no kernel computes."""

    def __init__(self, shim: ctypes.CDLL) -> None:
        """Starts nothing yet."""
        self._shim = shim
        self.on = False

    def start(self) -> None:
        """Switches host values on, for this thread and those that Python starts from now on.

        Does nothing without a simulated card or with MEMTRACE_HOST_VALUES=0. Raises ValueError if a policy file is
        wrong or torch leaves no place for them.
        """
        if not os.environ.get("MEMTRACE_CARD") or os.environ.get("MEMTRACE_HOST_VALUES") == "0":
            return
        error = ctypes.create_string_buffer(1024)
        users = os.environ.get("MEMTRACE_HOST_VALUES_POLICY", "")
        status = self._shim.memtrace_host_values_start(
            str(POLICY).encode(), os.fsencode(users), error, ctypes.c_uint64(len(error))
        )
        if status == 2:
            raise ValueError(f"host values: {error.value.decode(errors='replace')}")
        if status != 0:
            return
        self.on = True
        generate_length.watch(os.environ.get("MEMTRACE_GENERATE_LENGTH", ""))
        self._shim.memtrace_host_values_enter_thread()
        self._enter_new_threads()

    def _enter_new_threads(self) -> None:
        """Torch's switch is per thread; autograd's inherit it from their caller, Python's do not."""
        enter = self._shim.memtrace_host_values_enter_thread
        run: Callable[[threading.Thread], None] = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        @functools.wraps(run)
        def run_entered(thread: threading.Thread) -> None:
            enter()
            run(thread)

        _patches.put(
            threading.Thread,
            "_bootstrap_inner",
            run_entered,
            "threading.Thread._bootstrap_inner: values of the host are a thread's own switch",
        )

    def begin_step(self) -> None:
        """A training step begins: lines that read unknown values are counted anew."""
        if self.on:
            self._shim.memtrace_host_values_begin_step()

    def annotate(self) -> None:
        """Writes the counts of reads into the trace."""
        if self.on:
            self._shim.memtrace_host_values_annotate()


def start(shim: ctypes.CDLL) -> HostValues:
    """Gives the host values of this process, on where there is a simulated card.

    If they cannot be, says why; or ends the program if MEMTRACE_HOST_VALUES=1 asks for them: going on would answer
    other than the user wants.
    """
    values = HostValues(shim)
    try:
        values.start()
    except ValueError as wrong:
        let_through(wrong)
        if os.environ.get("MEMTRACE_HOST_VALUES") == "1":
            refuse(str(wrong))
        say(f"{wrong}; the report says what the run read that was not known")
    except (AttributeError, OSError) as error:
        let_through(error)
        say(f"small tensors keep no true values on the simulated card ({error})")
    return values
