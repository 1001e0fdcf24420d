# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a step beside memory, as the simulated card counts it, by which remedies are compared."""

import ctypes
import os
from ctypes import c_uint32, c_uint64
from types import ModuleType

from memtrace._core.package import CARD

_COUNTED = (
    "kernel_launches",
    "product_operations",
    "host_copy_bytes",
    "sent_bytes",
    "sent_bytes_network",
    "sends",
)


class _Activity(ctypes.Structure):
    """`struct memtrace_card_activity` of card_control.h."""

    _fields_ = [
        ("size", c_uint32),
        ("reserved", c_uint32),
        ("kernel_launches", c_uint64),
        ("copies_executed", c_uint64),
        ("copies_dropped", c_uint64),
        ("bytes_dropped", c_uint64),
        ("device_to_host_copies", c_uint64),
        ("unsupported_calls", c_uint64),
        ("faults", c_uint64),
        ("host_copy_bytes", c_uint64),
        ("product_operations", c_uint64),
        ("sent_bytes", c_uint64),
        ("sent_bytes_network", c_uint64),
        ("sends", c_uint64),
    ]


def page_locked_bytes(torch: ModuleType) -> int:
    """Returns the most page-locked memory of the host that torch has held; 0 if this torch does not count it."""
    read = getattr(torch.cuda, "host_memory_stats", None)
    return int(read().get("allocated_bytes.peak", 0)) if read is not None else 0


class Costs:
    """Kernel launches, operations of cuBLAS, and bytes exchanged with the host and other cards in the last step."""

    def __init__(self) -> None:
        """Counts from now on; counts nothing without a simulated card."""
        self._read = None
        if os.environ.get("MEMTRACE_CARD"):
            self._read = ctypes.CDLL(str(CARD / "libcuda.so.1")).memtrace_card_activity
        self._before = self._now()
        self._last = dict.fromkeys(_COUNTED, 0)

    def step_ended(self) -> None:
        """Assigns later counts to the next step."""
        now = self._now()
        self._last = {name: now[name] - self._before[name] for name in _COUNTED}
        self._before = now

    def of_last_step(self) -> dict[str, int]:
        """Returns the costs by name; zeros before a step ended."""
        return self._last

    def _now(self) -> dict[str, int]:
        activity = _Activity(size=ctypes.sizeof(_Activity))
        if self._read is not None:
            self._read(ctypes.byref(activity))
        return {name: int(getattr(activity, name)) for name in _COUNTED}
