# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Gives a forked run of warm_starts.py a file of its own for stderr. Python runs this before the program."""

import atexit
import gc
import os
import sys

_errors = os.open(os.environ.pop("OWN_ERRORS"), os.O_WRONLY | os.O_APPEND)
os.dup2(_errors, 2)
os.close(_errors)
del os.environ["MEMTRACE_FIT_STUB"]


def _freeze() -> None:
    """Makes Python's end short: it does not look at each object of the libraries again.

    nanobind, with which newer versions of Triton are bound, would then print that its objects were not freed.
    """
    triton = sys.modules.get("triton._C.libtriton")
    if triton is None or type(triton.ir.attribute).__module__ != "nanobind":
        gc.freeze()


atexit.register(_freeze)  # runs last
