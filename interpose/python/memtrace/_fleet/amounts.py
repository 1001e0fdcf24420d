# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Amounts of memory, as reports write them (tools/report/words/quantity.h)."""

_UNITS = ((1 << 30, "GiB", 2), (1 << 20, "MiB", 1), (1 << 10, "KiB", 1))


def amount(count: int) -> str:
    """Returns "1.50 GiB" for a number of bytes, which may be negative."""
    for size, name, digits in _UNITS:
        if abs(count) >= size:
            return f"{count / size:.{digits}f} {name}"
    return f"{count} B"
