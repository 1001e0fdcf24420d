# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""True values for small tensors on a simulated card: enabled here, implemented in `interpose/torch/host_values`."""

import ctypes
import functools
import os
import threading
from collections.abc import Callable

from memtrace._core.package import PACKAGE
from memtrace._patching import patches
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._start import async_results, generate_length, higher_order
from memtrace._text.say import refuse, say

POLICY = PACKAGE / "lib" / "host_values.policy"


class HostValues:
    """Host values in this process, for values that no kernel computes."""

    def __init__(self, shim: ctypes.CDLL) -> None:
        """Starts nothing yet."""
        self.shim = shim
        self.on = False

    def start(self) -> None:
        """Enables host values for this thread and those that Python starts from now on.

        Does nothing without a simulated card or with MEMTRACE_HOST_VALUES=0. Raises ValueError if a policy file is
        wrong or torch has no hook for them.
        """
        if not os.environ.get("MEMTRACE_CARD") or os.environ.get("MEMTRACE_HOST_VALUES") == "0":
            return
        error = ctypes.create_string_buffer(1024)
        users = os.environ.get("MEMTRACE_HOST_VALUES_POLICY", "")
        status = self.shim.memtrace_host_values_start(
            str(POLICY).encode(), os.fsencode(users), error, ctypes.c_uint64(len(error))
        )
        if status == 2:
            raise ValueError(
                f"Small tensors have no true values on the simulated card: {error.value.decode(errors='replace')}."
            )
        if status != 0:
            return
        self.on = True
        generate_length.watch(os.environ.get("MEMTRACE_GENERATE_LENGTH", ""))
        self._enter_first_thread()
        self._enter_new_threads()

    def _enter_first_thread(self) -> None:
        import torch

        before = torch._C._dispatch_tls_local_include_set()
        self.shim.memtrace_host_values_enter_thread()
        entered = torch._C._dispatch_tls_local_include_set() - before
        higher_order.pass_by(torch, entered)
        async_results.watch(torch, entered)

    def _enter_new_threads(self) -> None:
        """Enables them in new threads: torch's switch is per thread, and only autograd's threads inherit it."""
        enter = self.shim.memtrace_host_values_enter_thread
        run: Callable[[threading.Thread], None] = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        @functools.wraps(run)
        def run_entered(thread: threading.Thread) -> None:
            enter()
            run(thread)

        patches.put(
            threading.Thread,
            "_bootstrap_inner",
            run_entered,
            "threading.Thread._bootstrap_inner: switches host values on in each thread",
        )

    def begin_step(self) -> None:
        """Counts unknown reads of each line anew, because a training step begins."""
        if self.on:
            self.shim.memtrace_host_values_begin_step()

    def set_uneven(self, is_uneven: bool) -> None:
        """Makes a router's unknown choices as uneven as they may be, or even again."""
        if self.on:
            self.shim.memtrace_host_values_set_uneven(int(is_uneven))

    def line_of_choice(self) -> str:
        """Returns the first line, as "train.py:31", whose sizes follow from a router's unknown choice; "" if none."""
        if not self.on:
            return ""
        text = ctypes.create_string_buffer(4096)
        self.shim.memtrace_host_values_line_of_choice(text, ctypes.c_uint64(len(text)))
        return os.path.basename(text.value.decode(errors="replace"))

    def assumed_reads(self) -> dict[str, int]:
        """Returns how often each line, as "train.py:31", read values of the card that were assumed."""
        if not self.on:
            return {}
        text = ctypes.create_string_buffer(1 << 16)
        self.shim.memtrace_host_values_assumed_reads(text, ctypes.c_uint64(len(text)))
        rows = [row.split("\t") for row in text.value.decode(errors="replace").splitlines()]
        return {os.path.basename(line): int(count) for count, line in rows}

    def annotate(self) -> None:
        """Writes the counts of reads into the trace."""
        if self.on:
            self.shim.memtrace_host_values_annotate()


def start(shim: ctypes.CDLL) -> HostValues:
    """Returns the host values of this process, enabled if there is a simulated card.

    If they are not available, says why, or ends the program if MEMTRACE_HOST_VALUES=1 requires them: it would behave
    differently from what the user wants.
    """
    values = HostValues(shim)
    try:
        values.start()
    except ValueError as wrong:
        raise_if_from_outside(wrong)
        if os.environ.get("MEMTRACE_HOST_VALUES") == "1":
            refuse(str(wrong))
        say(f"{wrong} The report lists the unknown values that the run read.")
    except (AttributeError, OSError) as error:
        raise_if_from_outside(error)
        say(f"Small tensors have no true values on the simulated card ({error}).")
    return values
