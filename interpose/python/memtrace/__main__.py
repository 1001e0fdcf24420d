# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m memtrace` is the program `memtrace`."""

import os
import sys
import sysconfig

from memtrace._core.package import program
from memtrace._text.say import refuse


def main() -> None:
    """Replaces this process by the program; exit status 5 if it is not installed."""
    found = program()
    if found is not None:
        os.execv(found, [str(found), *sys.argv[1:]])
    refuse(f"the program memtrace is not in {sysconfig.get_path('scripts')}. Install memtrace again.")


if __name__ == "__main__":
    main()
