# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Imported by memtrace.pth in an interpreter that starts with MEMTRACE set: does what `memtrace run` does.

It adds the start-up file of `memtrace run` (memtrace/inject/sitecustomize.py), which `site` imports next and which then
runs the user's own. Under `memtrace run` that file is on the path already and this one is not imported.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "memtrace", "inject"))
