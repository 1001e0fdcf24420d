# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Where real-world inputs are: recordings, snapshots and scenarios of other people (docs/testing.md)."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A stranger's clone has none: what needs them skips and says so.
CORPUS = Path(os.environ.get("MEMTRACE_CORPUS") or ROOT / "../shared").resolve()
