# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m memtrace` is the program `memtrace`."""

import os
import sys
import sysconfig
from pathlib import Path

from memtrace._package import PACKAGE
from memtrace._say import refuse


def main() -> None:
    """Replaces this process by the program; exit status 5 if it is not installed."""
    candidates = [Path(sysconfig.get_path("scripts")) / "memtrace", PACKAGE.parent / "bin" / "memtrace"]
    for program in candidates:
        if program.exists():
            os.execv(program, [str(program), *sys.argv[1:]])
    refuse(f"the program is not installed in {candidates[0].parent}; install memtrace again")


if __name__ == "__main__":
    main()
