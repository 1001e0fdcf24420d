# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Gives a forked run of warm_starts.py a file of its own for stderr. Python runs this before the program."""

import atexit
import gc
import os

_errors = os.open(os.environ.pop("OWN_ERRORS"), os.O_WRONLY | os.O_APPEND)
os.dup2(_errors, 2)
os.close(_errors)
del os.environ["MEMTRACE_FIT_STUB"]
atexit.register(gc.freeze)  # runs last: Python then does not look at each object of the libraries again
