# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The switch that turns memtrace off."""

import os


def is_off() -> bool:
    """Returns True if the user switched memtrace off with `MEMTRACE=0`: then the package's calls do nothing."""
    return os.environ.get("MEMTRACE") == "0"
