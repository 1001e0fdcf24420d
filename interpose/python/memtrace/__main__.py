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
    scripts = Path(sysconfig.get_path("scripts"))
    # The package may come from an environment below this one: ENVIRONMENT/lib/pythonX.Y/site-packages/memtrace.
    folders = [scripts, PACKAGE.parent / "bin", PACKAGE.parents[3] / "bin"]
    for program in (folder / "memtrace" for folder in folders):
        if program.exists():
            os.execv(program, [str(program), *sys.argv[1:]])
    refuse(f"the program is not installed in {scripts}; install memtrace again")


if __name__ == "__main__":
    main()
