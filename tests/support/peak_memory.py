# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and measures its peak of resident memory.

Usage: peak_memory.py COMMAND...; prints "PEAK STATUS", the peak in KiB. The command's own stdout is lost.

It is a program of its own, because the kernel counts the resident memory of a command's parent as the command's.
"""

import os
import subprocess
import sys


def main() -> None:
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print(usage.ru_maxrss, child.returncode)


if __name__ == "__main__":
    main()
