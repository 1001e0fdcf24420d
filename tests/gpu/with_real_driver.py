# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program if there is a CUDA driver and a card; otherwise prints the reason and exits with 77 (skipped).

Usage: with_real_driver.py PROGRAM [ARGUMENTS].
"""

import ctypes
import os
import sys

SKIPPED = 77


def reason_to_skip() -> str | None:
    """Returns why nothing can run on a real card here; None if it can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no CUDA driver on this machine (libcuda.so.1)"
    status = driver.cuInit(0)
    return f"the CUDA driver does not start (cuInit: {status})" if status else None


def main() -> int:
    reason = reason_to_skip()
    if reason:
        print(f"SKIPPED [1] {os.path.basename(sys.argv[1])}: {reason}")
        return SKIPPED
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
