# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script on a simulated card with torch's own allocator, unobserved: card_launcher.py SPEC SCRIPT ARGS...

MEMTRACE_CARD_EVENTS=lazy in the environment makes its events lazy.
"""

import os
import runpy
import sys
from pathlib import Path

import memtrace

memtrace.simulated_card(sys.argv[1], os.environ.get("MEMTRACE_CARD_EVENTS", "eager"))
sys.argv = sys.argv[2:]
sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
runpy.run_path(sys.argv[0], run_name="__main__")
