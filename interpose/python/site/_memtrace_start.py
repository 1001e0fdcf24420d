# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Imported by memtrace.pth in an interpreter that starts with MEMTRACE set: gives it what `memtrace run` gives.

That is the start-up file of `memtrace run` (memtrace/inject/sitecustomize.py), which `site` imports next; it runs the
user's own after itself. Under `memtrace run` that file is on the path already and this one is not imported.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "memtrace", "inject"))
