# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The place of real-world inputs: recordings, snapshots and scenarios of other people (docs/design/testing.md)."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Other people's clones have none: tests that need them are skipped and say so.
CORPUS = Path(os.environ.get("MEMTRACE_CORPUS") or ROOT / "../shared").resolve()
